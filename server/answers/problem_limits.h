#pragma once
#include <cstddef>

#include "compiler/problem/problem.h"
#include "compiler/support/limits.h"

namespace schaas::server {

/// Limits on the problems this server accepts, at most those of the language (support::Limits).
struct ProblemLimits {
  std::size_t expression_bytes = support::Limits::expression_bytes;
  std::size_t nesting = support::Limits::nesting;    ///< parentheses and calls
  std::size_t operands = support::Limits::operands;  ///< accesses on the right of one statement
  std::size_t indices = support::Limits::indices;
  std::size_t constraints = support::Limits::constraints;  ///< counted as written
};

/// Checks a problem before it is parsed. Errors: invalid [too-long], [nesting], [too-many-constraints].
support::Result<void> check_text(const problem::ProblemText& text, const ProblemLimits& limits);
/// Checks a parsed problem. Errors: unsupported [too-many-operands], [too-many-indices].
support::Result<void> check_size(const problem::Problem& problem, const ProblemLimits& limits);

}  // namespace schaas::server

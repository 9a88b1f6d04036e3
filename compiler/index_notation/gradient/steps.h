#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/index_notation/rename.h"

namespace schaas::index_notation {

/// An expression without reductions, summed over `sums` (or folded, see Step).
struct SummedTerm {
  Expression value;
  std::vector<std::string> sums;
};

/// A statement whose value is a sum of such terms, or with `fold` one term that this monoid reduces.
struct Step {
  Assignment statement;
  std::vector<SummedTerm> terms;
  std::optional<operators::Monoid> fold{};
};

/// Takes a verified program under plus-times apart. A reduction inside a function, a quotient or another
/// reduction becomes a step of its own before the one that reads it. So does the argument of a `max` or
/// `min`, when it is computed rather than read:
///     y(i) = relu(sum(j)(A(i,j) * x(j)))    T(i) = sum(j)(A(i,j) * x(j)); y(i) = relu(T(i))
/// An update becomes a plain statement under a new name, which reads the former result as an operand.
std::vector<Step> steps_of(const Program& program, FreshNames& names);

}  // namespace schaas::index_notation

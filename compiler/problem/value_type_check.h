#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// Checks that the values of the problem's type can hold its numbers and are closed under its functions.
/// `written` are the statements as the request has them. Errors, with their range in `expression`: invalid
/// [number-range] (f32: a finite number beyond its range; integers: a number that is none, lies outside of
/// the range, or numbers that together may; unsigned integers: constants below 0), invalid [value-type] (a
/// function without integer values; of few bits a coordinate; of bool a sum or product written out; a
/// semiring whose zero the type does not have).
support::Result<void> check_value_type(const std::string& expression,
                                       const std::vector<index_notation::Assignment>& written,
                                       const Problem& problem);

}  // namespace schaas::problem

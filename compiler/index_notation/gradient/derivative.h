#pragma once
#include <vector>

#include "compiler/index_notation/gradient/quotient_terms.h"

namespace schaas::index_notation {

/// The derivative of an expression without reductions with respect to the access `wanted`, wherever that
/// stands in it. 0 where the expression is constant almost everywhere: comparisons, and, or, not, sign,
/// floor, ceil, round, and the condition of `where`. Kinks have subgradients. Where the arguments of `min` or
/// `max` are equal, each side has half; `abs` and `relu` have 0.
Expression derivative(const Expression& value, const Access& wanted);
/// The same as terms: one for each factor and additive term of the value that has the access. They are not
/// multiplied out further: (x - y) * (x - y) gives 2 * (x - y), not a difference of large numbers.
std::vector<QuotientTerm> derivative_terms(const Expression& value, const Access& wanted);

}  // namespace schaas::index_notation

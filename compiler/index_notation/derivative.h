#pragma once
#include <vector>

#include "compiler/index_notation/quotient_terms.h"

namespace schaas::index_notation {

/// The derivative of an expression without reductions with respect to the access `wanted`, wherever that
/// stands in it. 0 where the expression is constant almost everywhere: comparisons, and, or, not, sign,
/// floor, ceil, round, and the condition of `where`. At a kink a subgradient: half for each side of `min` and
/// `max` where both are equal, 0 for `abs` and `relu`.
Expression derivative(const Expression& value, const Access& wanted);
/// The same as terms: one for each factor and additive term of the value that has the access, not multiplied
/// out further, so that (x - y) * (x - y) gives 2 * (x - y) and not a difference of large numbers.
std::vector<QuotientTerm> derivative_terms(const Expression& value, const Access& wanted);

}  // namespace schaas::index_notation

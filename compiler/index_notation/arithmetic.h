#pragma once
#include <vector>

#include "compiler/index_notation/nodes.h"

/// Expressions put together from others, simplified as far as zeros and ones go.
namespace schaas::index_notation {

/// True for a sum, a difference and a negation.
bool is_additive(const Expression& expression);
/// The terms that the outermost sums, differences and negations join, left to right, with the sign of each.
struct SignedTerm {
  double sign;
  Expression value;
};
std::vector<SignedTerm> signed_terms(const Expression& value);

Expression number(double value);
/// True for the number itself.
bool is_number(const Expression& expression, double value);
Expression call(operators::Function function, std::vector<Expression> arguments);
/// The product, flat, with its finite numbers multiplied out in front; a single factor stands alone.
Expression multiplied(std::vector<Expression> factors);
/// The sum, flat, without zeros.
Expression added(std::vector<Expression> terms);
/// The quotient; a numerator of 0 and a divisor of 1 leave the numerator.
Expression divided(Expression above, Expression below);

}  // namespace schaas::index_notation

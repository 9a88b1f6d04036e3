#pragma once
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"

namespace schaas::index_notation {

/// factor * above[0] * above[1] * ... / below[0] / below[1] / ...
struct QuotientTerm {
  double factor = 1;
  std::vector<Expression> above, below;
};

/// An expression without reductions, taken apart at its products and quotients.
QuotientTerm quotient_term(const Expression& value);
/// The terms that an expression without reductions adds up, each taken apart at its products and quotients.
/// Terms that differ in their factor alone are one.
std::vector<QuotientTerm> quotient_terms(const Expression& value);
/// Adds a term to others; to one that differs in its factor alone by adding the factors up.
void add_term(std::vector<QuotientTerm>& terms, QuotientTerm term);
/// The indices of a term, in order of appearance.
std::vector<std::string> indices_of(const QuotientTerm& term);
/// The sum of terms as the right side of a statement for `result`, each summed over its other indices. The
/// sum is implied where the term is a product of accesses and numbers, else explicit.
Expression value_of(const std::vector<QuotientTerm>& terms, const Access& result);
/// The same as a factor of a product, with every sum explicit.
Expression value_with_explicit_sums(const std::vector<QuotientTerm>& terms, const Access& result);

}  // namespace schaas::index_notation

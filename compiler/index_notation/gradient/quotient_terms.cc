#include "compiler/index_notation/gradient/quotient_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/support/contains.h"

namespace schaas::index_notation {
namespace {

using operators::Function;

void append(std::vector<Expression>& to, const std::vector<Expression>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

QuotientTerm term_of_product(const std::vector<Expression>& factors) {
  QuotientTerm term;
  for (const Expression& factor : factors) {
    QuotientTerm part = quotient_term(factor);
    term.factor *= part.factor;
    append(term.above, part.above);
    append(term.below, part.below);
  }
  return term;
}

enum class Sums { implied, written_out };

// True when no part but an access above, or what coordinates decide alone, has an index that is summed.
bool may_be_implied(const QuotientTerm& term, const std::vector<std::string>& sums) {
  const auto has_summed = [&](const Expression& part) {
    return std::any_of(sums.begin(), sums.end(), [&](const auto& index) { return has_free(part, index); });
  };
  const auto hides_one = [&](const Expression& part) {
    const bool is_positional = operands(part).empty() && !is_additive(part);
    return !std::holds_alternative<Access>(part.node) && !is_positional && has_summed(part);
  };
  return std::none_of(term.above.begin(), term.above.end(), hides_one) &&
         std::none_of(term.below.begin(), term.below.end(), has_summed);
}

// Returns the term without its sign, which the sum around it has.
Expression summed(const QuotientTerm& term, const Access& result, Sums how) {
  std::vector<Expression> factors = term.above;
  factors.insert(factors.begin(), number(std::fabs(term.factor)));
  Expression value = multiplied(std::move(factors));
  if (!term.below.empty()) value = divided(std::move(value), multiplied(term.below));
  std::vector<std::string> sums;
  for (const auto& index : indices_of(term)) {
    if (!support::contains(result.indices, index)) sums.push_back(index);
  }
  if (sums.empty() || (how == Sums::implied && may_be_implied(term, sums))) return value;
  return {Reduction{operators::Monoid::sum, std::move(sums), {std::move(value)}}, {}};
}

Expression sum_of(const std::vector<QuotientTerm>& terms, const Access& result, Sums how) {
  Expression value = number(0);
  bool empty = true;
  for (const QuotientTerm& term : terms) {
    if (term.factor == 0) continue;
    Expression next = summed(term, result, how);
    const bool negative = term.factor < 0;
    if (empty && negative) next = call(Function::negate, {std::move(next)});
    value = empty      ? std::move(next)
            : negative ? call(Function::subtract, {std::move(value), std::move(next)})
                       : added({std::move(value), std::move(next)});
    empty = false;
  }
  return value;
}

}  // namespace

// A divisor is taken apart only where that leaves factors above alone.
QuotientTerm quotient_term(const Expression& value) {
  if (const auto* product = std::get_if<Product>(&value.node)) return term_of_product(product->factors);
  if (const auto* literal = std::get_if<Literal>(&value.node);
      literal != nullptr && std::isfinite(literal->value))
    return {literal->value, {}, {}};
  const auto* called = std::get_if<Call>(&value.node);
  if (called != nullptr && called->function == Function::negate) {
    QuotientTerm inner = quotient_term(called->arguments.front());
    inner.factor = -inner.factor;
    return inner;
  }
  if (called == nullptr || called->function != Function::divide) return {1, {value}, {}};
  QuotientTerm term = quotient_term(called->arguments[0]);
  QuotientTerm divisor = quotient_term(called->arguments[1]);
  if (!divisor.below.empty() || divisor.factor == 0) divisor = {1, {called->arguments[1]}, {}};
  term.factor /= divisor.factor;
  append(term.below, divisor.above);
  return term;
}

std::vector<QuotientTerm> quotient_terms(const Expression& value) {
  std::vector<QuotientTerm> terms;
  for (const SignedTerm& part : signed_terms(value)) {
    QuotientTerm term = quotient_term(part.value);
    term.factor *= part.sign;
    add_term(terms, std::move(term));
  }
  return terms;
}

void add_term(std::vector<QuotientTerm>& terms, QuotientTerm term) {
  for (QuotientTerm& known : terms) {
    if (known.above != term.above || known.below != term.below) continue;
    known.factor += term.factor;
    return;
  }
  terms.push_back(std::move(term));
}

std::vector<std::string> indices_of(const QuotientTerm& term) {
  std::vector<std::string> found;
  for (const auto* side : {&term.above, &term.below}) {
    for (const Expression& part : *side) {
      for (const auto& index : free_indices(part)) {
        if (!support::contains(found, index)) found.push_back(index);
      }
    }
  }
  return found;
}

Expression value_of(const std::vector<QuotientTerm>& terms, const Access& result) {
  return sum_of(terms, result, Sums::implied);
}

Expression value_with_explicit_sums(const std::vector<QuotientTerm>& terms, const Access& result) {
  return sum_of(terms, result, Sums::written_out);
}

}  // namespace schaas::index_notation

#include "compiler/problem/rewrites/sum_terms.h"

#include <utility>

// Sums as lists of terms with signs. Differences and negations are signs under plus-times alone; under other
// semirings they are terms themselves.
namespace schaas::problem {

using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using operators::Function;

namespace {

// Collects the terms of an expression; `negative` is the sign that stands around it.
void collect(const Expression& expression, bool negative, const operators::Semiring& semiring,
             std::vector<SumTerm>& out) {
  const bool signs = &semiring == &operators::plus_times();
  const auto* call = std::get_if<Call>(&expression.node);
  const bool adds = call != nullptr &&
                    (call->function == Function::add || call->function == operators::combine(semiring.sum));
  const bool subtracts = call != nullptr && signs && call->function == Function::subtract;
  const bool negates = call != nullptr && signs && call->function == Function::negate;
  if (!adds && !subtracts && !negates) {
    out.push_back({expression, negative});
    return;
  }
  for (std::size_t n = 0; n < call->arguments.size(); ++n) {
    const bool flips = negates || (subtracts && n == 1);
    collect(call->arguments[n], negative != flips, semiring, out);
  }
}

/// Multiplies a term by one more factor; products stay flat.
SumTerm multiplied(const SumTerm& term, const SumTerm& factor) {
  Product product = std::get<Product>(term.value.node);
  if (const auto* inner = std::get_if<Product>(&factor.value.node)) {
    product.factors.insert(product.factors.end(), inner->factors.begin(), inner->factors.end());
  } else {
    product.factors.push_back(factor.value);
  }
  return {Expression{std::move(product), {}}, term.negative != factor.negative};
}

/// Returns the products of one term of each factor, or the product itself.
std::vector<SumTerm> expanded(const SumTerm& term, const operators::Semiring& semiring,
                              std::size_t max_terms) {
  const auto* product = std::get_if<Product>(&term.value.node);
  if (product == nullptr) return {term};
  std::vector<SumTerm> products{{Expression{Product{}, {}}, term.negative}};
  for (const Expression& factor : product->factors) {
    std::vector<SumTerm> more;
    for (const SumTerm& part : distributed_terms(factor, semiring, max_terms))
      for (const SumTerm& before : products) more.push_back(multiplied(before, part));
    if (more.size() > max_terms) return {term};
    products = std::move(more);
  }
  return products;
}

}  // namespace

Expression SumTerm::expression() const {
  return negative ? Expression{Call{Function::negate, {value}}, {}} : value;
}

std::vector<SumTerm> sum_terms(const Expression& expression, const operators::Semiring& semiring) {
  std::vector<SumTerm> out;
  collect(expression, false, semiring, out);
  return out;
}

std::vector<SumTerm> distributed_terms(const Expression& expression, const operators::Semiring& semiring,
                                       std::size_t max_terms) {
  std::vector<SumTerm> out;
  for (const SumTerm& term : sum_terms(expression, semiring)) {
    auto products = expanded(term, semiring, max_terms);
    out.insert(out.end(), products.begin(), products.end());
  }
  return out;
}

}  // namespace schaas::problem

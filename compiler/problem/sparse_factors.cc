#include "compiler/problem/sparse_factors.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/implied_sums.h"

// Zeros of expressions by their structure: arguments whose missing elements make an expression the semiring's
// zero. Dividends count under plus-times alone. A condition counts where its `where` otherwise chooses the
// number 0, which is the semiring's zero. A function of one element counts when its value at that element's
// zero is the zero.
namespace schaas::problem {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Reduction;

namespace {

bool has_reduction(const Expression& expression) {
  if (std::holds_alternative<Reduction>(expression.node)) return true;
  const auto& parts = index_notation::parts(expression);
  return std::any_of(parts.begin(), parts.end(), has_reduction);
}

}  // namespace

std::optional<Access> element_of(const Expression& expression) {
  if (!index_notation::coordinates(expression).empty()) return std::nullopt;
  const auto all = index_notation::operands(expression);
  const bool one = !all.empty() && std::all_of(all.begin(), all.end(),
                                               [&](const Access& access) { return access == all.front(); });
  return one && !has_reduction(expression) ? std::optional(all.front()) : std::nullopt;
}

double value_at_zero(const Expression& expression, const operators::Semiring& semiring) {
  if (std::holds_alternative<Access>(expression.node)) return semiring.zero;
  if (const auto* literal = std::get_if<Literal>(&expression.node)) return literal->value;
  std::vector<double> parts;
  for (const Expression& part : index_notation::parts(expression))
    parts.push_back(value_at_zero(part, semiring));
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    // Under a semiring `+` is its sum. Zero divided by anything is zero.
    const bool sum = call->function == operators::Function::add;
    if (call->function == operators::Function::divide && parts.front() == 0) return 0;
    return operators::evaluate(sum ? operators::combine(semiring.sum) : call->function, parts);
  }
  if (std::find(parts.begin(), parts.end(), semiring.zero) != parts.end()) return semiring.zero;
  double product = semiring.one;
  for (const double part : parts) product = operators::evaluate(semiring.product, {product, part});
  return product;
}

std::vector<Access> sparse_factors(const Expression& expression, const Problem& problem) {
  std::vector<Access> out;
  if (const auto* access = std::get_if<Access>(&expression.node)) {
    const auto known = problem.formats.find(access->tensor);
    if (known != problem.formats.end() && !known->second.all_dense()) out.push_back(*access);
  } else if (const auto* product = std::get_if<Product>(&expression.node)) {
    for (const auto& factor : product->factors) {
      const auto more = sparse_factors(factor, problem);
      out.insert(out.end(), more.begin(), more.end());
    }
  } else if (const auto* call = std::get_if<Call>(&expression.node)) {
    const bool quotient = call->function == operators::Function::divide;
    if (quotient && problem.semiring == &operators::plus_times())
      return sparse_factors(call->arguments.front(), problem);
    const double zero = problem.semiring->zero;
    if (call->function == operators::Function::where && zero == 0 &&
        index_notation::is_number(call->arguments[2], 0)) {
      const auto more = sparse_factors(call->arguments.front(), problem);
      // The choice makes no difference at elements at which the chosen value is zero.
      out = index_notation::coordinates(call->arguments.front()).empty()
                ? std::vector<Access>{}
                : sparse_factors(call->arguments[1], problem);
      out.insert(out.begin(), more.begin(), more.end());
      return out;
    }
    const auto element = element_of(expression);
    if (element && value_at_zero(expression, *problem.semiring) == zero)
      return sparse_factors(Expression{*element, {}}, problem);
  }
  return out;
}

bool sums(const Assignment& definition) {
  if (has_reduction(definition.value)) return true;
  const auto free = index_notation::free_indices(definition.value);
  const auto& kept = definition.result.indices;
  return !std::all_of(free.begin(), free.end(), [&](const std::string& index) {
    return std::find(kept.begin(), kept.end(), index) != kept.end();
  });
}

Expression explicit_value(const Assignment& definition, const Problem& problem) {
  Expression value = index_notation::with_explicit_sums(definition, *problem.semiring).value;
  if (!index_notation::is_product(definition.value)) return value;
  std::vector<std::string> summed = index_notation::implied_indices(definition, value);
  if (summed.empty()) return value;
  return Expression{Reduction{problem.semiring->sum, std::move(summed), {std::move(value)}}, {}};
}

}  // namespace schaas::problem

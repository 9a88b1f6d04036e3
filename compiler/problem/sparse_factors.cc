#include "compiler/problem/sparse_factors.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/support/contains.h"

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

bool has_reduction(const Expression& expression) {
  if (std::holds_alternative<Reduction>(expression.node)) return true;
  const auto& parts = index_notation::parts(expression);
  return std::any_of(parts.begin(), parts.end(), has_reduction);
}

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

namespace {

/// Evaluates the body of a reduction as far as missing elements decide it.
class Unstored {
 public:
  Unstored(const std::vector<std::string>& reduced, const Problem& problem)
      : reduced_(reduced), problem_(problem) {}

  UnstoredBody of(const Expression& expression) {
    if (const auto* literal = std::get_if<Literal>(&expression.node)) return {literal->value, false};
    if (const auto* access = std::get_if<Access>(&expression.node); access != nullptr && is_missing(*access))
      return {problem_.semiring->zero, false};
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr && !std::holds_alternative<Product>(expression.node)) return unknown(expression);
    if (call != nullptr && call->function == operators::Function::where) {
      const UnstoredBody condition = of(call->arguments[0]);
      if (condition.number) return of(call->arguments[*condition.number != 0 ? 1 : 2]);
    }
    std::vector<double> numbers;
    bool varies = false, is_known = true;
    for (const Expression& part : index_notation::parts(expression)) {
      const UnstoredBody one = of(part);
      const bool annihilates = call == nullptr ? one.number == problem_.semiring->zero
                                               : numbers.empty() && one.number == 0.0 &&
                                                     call->function == operators::Function::divide;
      if (annihilates) return {one.number, false};
      is_known = is_known && one.number;
      varies = varies || one.varies;
      numbers.push_back(one.number.value_or(0));
    }
    if (!is_known) return {std::nullopt, varies};
    if (call != nullptr) {
      // Under a semiring `+` is its sum.
      const bool sum = call->function == operators::Function::add;
      return {operators::evaluate(sum ? operators::combine(problem_.semiring->sum) : call->function, numbers),
              false};
    }
    double product = problem_.semiring->one;
    for (const double number : numbers)
      product = operators::evaluate(problem_.semiring->product, {product, number});
    return {product, false};
  }

  bool found() const { return found_; }

 private:
  bool is_missing(const Access& access) {
    const auto known = problem_.formats.find(access.tensor);
    const bool missing = known != problem_.formats.end() && !known->second.all_dense() &&
                         std::any_of(reduced_.begin(), reduced_.end(), [&](const std::string& index) {
                           return support::contains(access.indices, index);
                         });
    found_ = found_ || missing;
    return missing;
  }

  UnstoredBody unknown(const Expression& expression) {
    return {std::nullopt, std::any_of(reduced_.begin(), reduced_.end(), [&](const std::string& index) {
              return index_notation::has_free(expression, index);
            })};
  }

  const std::vector<std::string>& reduced_;
  const Problem& problem_;
  bool found_ = false;
};

}  // namespace

std::optional<UnstoredBody> unstored_body(const Reduction& reduction, const Problem& problem) {
  Unstored unstored(reduction.indices, problem);
  const UnstoredBody out = unstored.of(reduction.body.front());
  return unstored.found() ? std::optional(out) : std::nullopt;
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

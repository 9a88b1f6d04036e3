#include "compiler/problem/sparse_factors.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/implied_sums.h"

namespace schaas::problem {

using index_notation::Access;
using index_notation::Assignment;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Product;
using index_notation::Reduction;

namespace {

bool sums(const Expression& expression) {
  if (std::holds_alternative<Reduction>(expression.node)) return true;
  const auto& parts = index_notation::parts(expression);
  return std::any_of(parts.begin(), parts.end(), sums);
}

}  // namespace

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
  }
  return out;
}

bool sums(const Assignment& definition) {
  if (sums(definition.value)) return true;
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

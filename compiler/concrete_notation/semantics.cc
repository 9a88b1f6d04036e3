#include "compiler/concrete_notation/semantics.h"

#include <algorithm>
#include <utility>

#include "compiler/index_notation/implied_sums.h"

namespace schaas::concrete_notation {
using index_notation::Expression;
using index_notation::Reduction;

double start_value(operators::Monoid monoid, const problem::Problem& problem) {
  return monoid == problem.semiring->sum ? problem.semiring->zero : operators::identity(monoid);
}

operators::Monoid target_monoid(const index_notation::Assignment& statement,
                                const problem::Problem& problem) {
  if (statement.update) return *statement.update;
  const Expression value = explicit_value(statement, problem);
  const auto* reduction = std::get_if<Reduction>(&value.node);
  return reduction ? reduction->monoid : problem.semiring->sum;
}

double result_fill(const problem::Problem& problem) {
  return start_value(target_monoid(problem.statement, problem), problem);
}

Expression explicit_value(const index_notation::Assignment& statement, const problem::Problem& problem) {
  Expression value = index_notation::with_explicit_sums(statement, *problem.semiring).value;
  if (!index_notation::is_product(statement.value)) return value;
  std::vector<std::string> summed;
  for (const auto& index : index_notation::free_indices(value)) {
    const auto& kept = statement.result.indices;
    if (std::find(kept.begin(), kept.end(), index) == kept.end()) summed.push_back(index);
  }
  if (summed.empty()) return value;
  return Expression{Reduction{problem.semiring->sum, std::move(summed), {std::move(value)}}, {}};
}

}  // namespace schaas::concrete_notation

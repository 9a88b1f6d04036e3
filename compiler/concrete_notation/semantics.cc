#include "compiler/concrete_notation/semantics.h"

#include "compiler/problem/sparse_factors.h"

namespace schaas::concrete_notation {
using index_notation::Expression;
using index_notation::Reduction;

double start_value(operators::Monoid monoid, const problem::Problem& problem) {
  return monoid == problem.semiring->sum ? problem.semiring->zero : operators::identity(monoid);
}

operators::Monoid target_monoid(const index_notation::Assignment& statement,
                                const problem::Problem& problem) {
  if (statement.update) return *statement.update;
  const Expression value = problem::explicit_value(statement, problem);
  const auto* reduction = std::get_if<Reduction>(&value.node);
  return reduction ? reduction->monoid : problem.semiring->sum;
}

double result_fill(const problem::Problem& problem) {
  return start_value(target_monoid(problem.statement, problem), problem);
}

}  // namespace schaas::concrete_notation

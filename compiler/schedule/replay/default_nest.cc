#include <utility>

#include "compiler/concrete_notation/linear_order.h"
#include "compiler/concrete_notation/loop_order.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/schedule/section.h"
#include "compiler/schedule/statement_nest.h"

// Start of every trace. The order of loops is that of the indices as they appear, the result's first, changed
// only as far as storage orders demand. The nest must not depend on anything else: traces are stored, and
// replayed here.
namespace schaas::schedule {
namespace {

using concrete_notation::LinearOrder;
using concrete_notation::LoopOrder;
using concrete_notation::StatementPtr;

/// Puts all loops around one assignment. Contradicting storage orders have no legal nest, which the verifier
/// reports. A sparse result whose order is the only obstacle gets a workspace later (ordered_appends.h).
StatementPtr linear_nest(const problem::Problem& problem) {
  std::vector<LoopOrder> operands;
  for (const auto& operand : problem.operands()) {
    const auto more = concrete_notation::loop_order(operand, problem);
    operands.insert(operands.end(), more.begin(), more.end());
  }
  std::vector<LoopOrder> all = concrete_notation::result_loop_order(problem);
  all.insert(all.end(), operands.begin(), operands.end());
  Section section;
  section.target = problem.statement.result;
  section.value = problem.statement.value;
  section.monoid = problem.semiring->sum;
  const auto indices = index_notation::index_variables(problem.statement);
  LinearOrder order = concrete_notation::linear_order(indices, all);
  // A result's order can be met by a workspace, an operand's cannot: the operands' demands win.
  if (const LinearOrder without_result = concrete_notation::linear_order(indices, operands);
      !order.legal && without_result.legal)
    order = without_result;
  section.loops = std::move(order.loops);
  return statement_of(section);
}

}  // namespace

StatementPtr default_nest(const problem::Problem& problem, TemporaryNames& names) {
  if (problem::is_contraction(problem)) return linear_nest(problem);
  std::vector<StatementPtr> earlier;
  for (const auto& statement : problem.intermediates)
    earlier.push_back(statement_nest(statement, problem, names));
  StatementPtr tree = statement_nest(problem.statement, problem, names);
  // The first statement ends up outermost as a producer, so it runs first.
  for (auto statement = earlier.rbegin(); statement != earlier.rend(); ++statement)
    tree = concrete_notation::where(std::move(tree), *statement);
  return tree;
}

StatementPtr default_nest(const problem::Problem& problem) {
  TemporaryNames names(problem);
  return default_nest(problem, names);
}

}  // namespace schaas::schedule

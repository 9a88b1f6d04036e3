#include <algorithm>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/schedule/apply.h"
#include "compiler/schedule/section.h"

namespace schaas::schedule {
namespace {

/// True when every loop that must be outside `index` has been placed.
bool may_be_next(const std::string& index, const std::vector<std::string>& placed,
                 const std::vector<concrete_notation::LoopOrder>& orders) {
  return std::all_of(orders.begin(), orders.end(), [&](const concrete_notation::LoopOrder& order) {
    return order.after != index || std::find(placed.begin(), placed.end(), order.before) != placed.end();
  });
}

}  // namespace

concrete_notation::StatementPtr default_nest(const problem::Problem& problem) {
  std::vector<concrete_notation::LoopOrder> orders = concrete_notation::result_loop_order(problem);
  for (const auto& operand : problem.operands()) {
    const auto more = concrete_notation::loop_order(operand, problem);
    orders.insert(orders.end(), more.begin(), more.end());
  }
  Section section;
  section.target = problem.statement.result;
  section.factors = problem.operands();
  std::vector<std::string> remaining = index_notation::index_variables(problem.statement);
  while (!remaining.empty()) {
    auto next = std::find_if(remaining.begin(), remaining.end(),
                             [&](const auto& index) { return may_be_next(index, section.loops, orders); });
    // Two tensors that contradict each other have no legal nest; the verifier then says which.
    if (next == remaining.end()) next = remaining.begin();
    section.loops.push_back(*next);
    remaining.erase(next);
  }
  return statement_of(section);
}

}  // namespace schaas::schedule

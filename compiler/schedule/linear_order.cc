#include "compiler/schedule/linear_order.h"

#include <algorithm>

namespace schaas::schedule {

LinearOrder linear_order(std::vector<std::string> indices,
                         const std::vector<concrete_notation::LoopOrder>& orders) {
  const auto waits = [&](const std::string& index) {
    return std::any_of(orders.begin(), orders.end(), [&](const concrete_notation::LoopOrder& order) {
      return order.after == index && order.before != index &&
             std::find(indices.begin(), indices.end(), order.before) != indices.end();
    });
  };
  LinearOrder out;
  while (!indices.empty()) {
    auto next = std::find_if_not(indices.begin(), indices.end(), waits);
    if (next == indices.end()) {
      out.legal = false;
      next = indices.begin();
    }
    out.loops.push_back(*next);
    indices.erase(next);
  }
  return out;
}

}  // namespace schaas::schedule

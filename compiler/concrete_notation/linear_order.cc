#include "compiler/concrete_notation/linear_order.h"

#include <algorithm>

namespace schaas::concrete_notation {

LinearOrder linear_order(std::vector<std::string> indices, const std::vector<LoopOrder>& orders) {
  const auto waits = [&](const std::string& index) {
    return std::any_of(orders.begin(), orders.end(), [&](const LoopOrder& order) {
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

}  // namespace schaas::concrete_notation

#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/loop_order.h"

namespace schaas::concrete_notation {

struct LinearOrder {
  std::vector<std::string> loops;
  bool legal = true;
};

/// `indices` in the order they come in, but each after those that must be outside of it. Orders that go round
/// in a circle are not legal; the circle is broken at its first index. Orders that speak of other indices do
/// not matter.
LinearOrder linear_order(std::vector<std::string> indices, const std::vector<LoopOrder>& orders);

}  // namespace schaas::concrete_notation

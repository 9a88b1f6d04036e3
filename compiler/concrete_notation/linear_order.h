#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/loop_order.h"

namespace schaas::concrete_notation {

struct LinearOrder {
  std::vector<std::string> loops;
  bool legal = true;
};

/// Orders `indices` as given, but each after those that must be outside of it. A cycle is illegal and is
/// broken at its first index. Orders between other indices are ignored.
LinearOrder linear_order(std::vector<std::string> indices, const std::vector<LoopOrder>& orders);

}  // namespace schaas::concrete_notation

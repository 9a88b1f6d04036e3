#pragma once
#include <algorithm>
#include <vector>

#include "compiler/cost/cost.h"

namespace schaas::frontier {

/// The order of a frontier: by memory, then time at a reference point, then a fixed one.
inline void sort_classes(std::vector<cost::Cost>& classes, const cost::Point& reference) {
  std::sort(classes.begin(), classes.end(), [&](const cost::Cost& a, const cost::Cost& b) {
    const double ma = cost::evaluate_memory(a, reference);
    const double mb = cost::evaluate_memory(b, reference);
    if (ma != mb) return ma < mb;
    const double ta = cost::evaluate_time(a, reference);
    const double tb = cost::evaluate_time(b, reference);
    return ta != tb ? ta < tb : a < b;
  });
}

}  // namespace schaas::frontier

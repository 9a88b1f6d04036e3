#pragma once
#include <algorithm>
#include <vector>

#include "compiler/cost/cost.h"

namespace schaas::frontier {

/// Decides if `a` stands before `b` in a frontier: by memory, then time at a reference point, then a fixed
/// order.
inline bool stands_before(const cost::Cost& a, const cost::Cost& b, const cost::Point& reference) {
  const double ma = cost::evaluate_memory(a, reference);
  const double mb = cost::evaluate_memory(b, reference);
  if (ma != mb) return ma < mb;
  const double ta = cost::evaluate_time(a, reference);
  const double tb = cost::evaluate_time(b, reference);
  return ta != tb ? ta < tb : a < b;
}

/// Returns the time where every index has a thousand values and every row ten entries.
inline double middling_time(const cost::Cost& cost) {
  cost::Point point(cost::access_shift, 1000.0);
  std::fill(point.begin() + cost::Variables::first_fiber, point.end(), 10.0);
  return cost::evaluate_time(cost, point);
}

/// Sorts classes as a frontier has them.
inline void sort_classes(std::vector<cost::Cost>& classes, const cost::Point& reference) {
  std::sort(classes.begin(), classes.end(),
            [&](const cost::Cost& a, const cost::Cost& b) { return stands_before(a, b, reference); });
}

}  // namespace schaas::frontier

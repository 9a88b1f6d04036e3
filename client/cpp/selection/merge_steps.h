#pragma once
#include <algorithm>
#include <cmath>

namespace schaas::client {

/// A list that is so much longer than another one is skipped through (ARE_SKEWED of codegen/runtime/merge.h).
inline bool skips(double shorter, double longer) { return shorter > 0 && longer > 16 * shorter; }

/// Steps of a merge that skips through the longer list: doubled steps and halves of the last one.
inline double skipping_steps(double shorter, double longer) {
  return std::min(shorter + longer, 2 * shorter * (1 + std::log2(longer / shorter)));
}

}  // namespace schaas::client

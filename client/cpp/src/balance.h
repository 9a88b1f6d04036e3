#pragma once
#include <cstdint>
#include <vector>

#include "proto/kernel_abi.h"

namespace schaas::client {

/// Cuts [0, range) into at most `pieces` non-empty stretches; returns their borders (0 first, `range` last;
/// just {0} for an empty range). With `weights` (a compressed level with at least `range` parents) the
/// stretches hold about equally many of its entries, each iteration counting one more for its own overhead;
/// else equally many iterations.
std::vector<std::int64_t> cut_range(std::int64_t range, std::int64_t pieces, const schaas_level* weights);

}  // namespace schaas::client

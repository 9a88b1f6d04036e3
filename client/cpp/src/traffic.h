#pragma once
#include <span>
#include <vector>

#include "schaas/select.h"

// What a schedule's working sets cost at real sizes (docs/cost_model.md, "At real sizes"), in weighted trips:
// one is a contiguous trip whose row comes from the second-level cache.

namespace schaas::client {

/// The terms' trips when all rows are in the first-level cache: the least the schedule can take. Parallel
/// ones are divided by the threads. Errors: [unknown-size].
support::Result<double> least_time(const std::vector<Term>& terms, const Sizes& sizes, int threads);

/// What comes on top: elements that pass from cache to cache because they are touched again after more than
/// the cache holds, and result rows that are read and written again for each few trips. Errors:
/// [unknown-size].
support::Result<double> traffic_time(std::span<const Nest> nests, const Sizes& sizes, const Machine& machine);

}  // namespace schaas::client

#pragma once
#include <cstdint>
#include <vector>

#include "proto/kernel_abi.h"

namespace schaas::client {

/// Splits [0, range) into at most `pieces` nonempty ranges; returns their borders (0 first, `range` last;
/// just {0} for an empty range). With `weights` (a compressed level with at least `range` parents) the ranges
/// hold about equally many of its entries. Each iteration then counts one more for its own overhead. Without
/// weights they hold equally many iterations.
std::vector<std::int64_t> cut_range(std::int64_t range, std::int64_t pieces, const schaas_level* weights);

/// A task of one call: iterations [begin, end), or positions [first, last) of the one iteration `begin`.
struct Task {
  std::int64_t begin = 0, end = 0;
  std::int64_t first = -1, last = -1;
  int carry = -1;  ///< number of the partial result of a part that does not write where the phase does
                   ///< (partial_results.h)
  bool is_part() const { return first >= 0; }
};

/// Returns the ranges between `borders` as tasks. With `weights`, iterations that have more than `most`
/// entries are split into parts with about `most` each, at most `max_parts`.
std::vector<Task> tasks_between(const std::vector<std::int64_t>& borders, const schaas_level* weights,
                                std::int64_t most, std::int64_t max_parts);

/// Groups the list of tasks into at most `pieces` ranges of about equal weight; returns their borders: 0
/// first, the number of tasks last.
std::vector<std::size_t> group(const std::vector<Task>& tasks, const schaas_level* weights,
                               std::int64_t pieces);

/// Entries of the first `range` iterations, and one more for each.
std::int64_t total_weight(std::int64_t range, const schaas_level* weights);

}  // namespace schaas::client

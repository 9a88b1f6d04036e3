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

/// What is done in one call: iterations [begin, end), or, of the one iteration `begin`, positions [first,
/// last).
struct Run {
  std::int64_t begin = 0, end = 0;
  std::int64_t first = -1, last = -1;
  int carry = -1;  ///< of a part that does not write where the phase does (carries.h)
  bool is_part() const { return first >= 0; }
};

/// The stretches between `borders` as runs. With `weights`, iterations that have more than `most` entries are
/// cut into parts with about `most` each, but not more than `most_parts`.
std::vector<Run> runs_between(const std::vector<std::int64_t>& borders, const schaas_level* weights,
                              std::int64_t most, std::int64_t most_parts);

/// Where to cut the list of runs into at most `pieces` stretches of about equal weight: 0 first, the number
/// of runs last.
std::vector<std::size_t> group(const std::vector<Run>& runs, const schaas_level* weights,
                               std::int64_t pieces);

/// Entries of the first `range` iterations, and one more for each.
std::int64_t total_weight(std::int64_t range, const schaas_level* weights);

}  // namespace schaas::client

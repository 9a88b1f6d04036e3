#include "client/cpp/runtime/balance.h"

#include <algorithm>

// Load balancing by entries. An iteration costs its entries and one more for its own overhead, which is the
// path length of merge-based SpMV (Merrill, Garland 2016). Positions of a compressed level are prefix sums of
// these costs, so a border is found by binary search without a pass over the iterations.
//
// Iterations above a limit are split into parts; those of other formats than compressed levels are balanced
// by number.
namespace schaas::client {
namespace {

// Reads a position of either width.
std::int64_t position(const schaas_level& level, std::int64_t at) {
  return level.index_bits == 32 ? static_cast<const std::int32_t*>(level.pos)[at]
                                : static_cast<const std::int64_t*>(level.pos)[at];
}

// The first p in [from, range] whose accumulated weight pos[p] + p reaches `goal`.
std::int64_t reach(const schaas_level& level, std::int64_t from, std::int64_t range, std::int64_t goal) {
  std::int64_t to = range;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (position(level, middle) + middle < goal) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

}  // namespace

std::vector<std::int64_t> cut_range(std::int64_t range, std::int64_t pieces, const schaas_level* weights) {
  std::vector<std::int64_t> borders = {0};
  if (range <= 0) return borders;
  pieces = std::clamp<std::int64_t>(pieces, 1, range);
  // Products in double: entries times pieces may overflow 64 bits. Rounding moves a border, no more.
  const double total = static_cast<double>(weights == nullptr ? range : position(*weights, range) + range);
  for (std::int64_t piece = 1; piece < pieces; ++piece) {
    const auto goal =
        static_cast<std::int64_t>(total * static_cast<double>(piece) / static_cast<double>(pieces));
    const std::int64_t border = weights == nullptr ? goal : reach(*weights, borders.back(), range, goal);
    // Iterations heavier than a piece make borders coincide; such pieces are dropped, so there may be fewer.
    if (border > borders.back() && border < range) borders.push_back(border);
  }
  borders.push_back(range);
  return borders;
}

std::int64_t total_weight(std::int64_t range, const schaas_level* weights) {
  return weights == nullptr || range <= 0 ? range : position(*weights, range) - position(*weights, 0) + range;
}

// Splits heavy iterations into parts of about equal numbers of entries; light ones before and after stay
// whole.
std::vector<Task> tasks_between(const std::vector<std::int64_t>& borders, const schaas_level* weights,
                                std::int64_t most, std::int64_t max_parts) {
  std::vector<Task> tasks;
  for (std::size_t n = 0; n + 1 < borders.size(); ++n) {
    std::int64_t begin = borders[n];
    const std::int64_t end = borders[n + 1];
    // A light range has no heavy iteration: it is not looked through.
    const bool heavy = weights != nullptr &&
                       position(*weights, end) - position(*weights, begin) > std::max<std::int64_t>(most, 1);
    for (std::int64_t i = begin; heavy && i < end; ++i) {
      const std::int64_t first = position(*weights, i), entries = position(*weights, i + 1) - first;
      if (entries <= most || entries < 2) continue;
      if (i > begin) tasks.push_back({begin, i});
      const std::int64_t parts = std::min(max_parts, (entries + most - 1) / std::max<std::int64_t>(most, 1));
      for (std::int64_t part = 0; part < parts; ++part)
        tasks.push_back({i, i + 1, first + entries * part / parts, first + entries * (part + 1) / parts});
      begin = i + 1;
    }
    if (begin < end) tasks.push_back({begin, end});
  }
  return tasks;
}

// Groups tasks by the sums of their weights, as cut_range() does iterations.
std::vector<std::size_t> group(const std::vector<Task>& tasks, const schaas_level* weights,
                               std::int64_t pieces) {
  std::vector<std::int64_t> sums = {0};
  for (const Task& task : tasks) {
    std::int64_t weight = task.is_part() ? task.last - task.first : task.end - task.begin;
    if (weights != nullptr && !task.is_part())
      weight += position(*weights, task.end) - position(*weights, task.begin);
    sums.push_back(sums.back() + weight);
  }
  std::vector<std::size_t> borders = {0};
  for (std::int64_t piece = 1; piece < pieces; ++piece) {
    const auto goal = static_cast<std::int64_t>(static_cast<double>(sums.back()) *
                                                static_cast<double>(piece) / static_cast<double>(pieces));
    const auto border =
        static_cast<std::size_t>(std::lower_bound(sums.begin(), sums.end(), goal) - sums.begin());
    if (border > borders.back() && border < tasks.size()) borders.push_back(border);
  }
  if (!tasks.empty()) borders.push_back(tasks.size());
  return borders;
}

}  // namespace schaas::client

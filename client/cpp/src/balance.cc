#include "balance.h"

#include <algorithm>

namespace schaas::client {
namespace {

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
  const double total = static_cast<double>(weights == nullptr ? range : position(*weights, range) + range);
  for (std::int64_t piece = 1; piece < pieces; ++piece) {
    const auto goal =
        static_cast<std::int64_t>(total * static_cast<double>(piece) / static_cast<double>(pieces));
    const std::int64_t border = weights == nullptr ? goal : reach(*weights, borders.back(), range, goal);
    if (border > borders.back() && border < range) borders.push_back(border);
  }
  borders.push_back(range);
  return borders;
}

}  // namespace schaas::client

#include <algorithm>
#include <atomic>
#include <limits>

#include "schaas/tensor.h"
#include "tensor_checks.h"

namespace schaas::client {
namespace {

support::Diagnostic broken(const std::string& name, const std::string& what) {
  return support::invalid("tensor-structure", "`" + name + "` " + what);
}

std::string level_text(int level) { return "level " + std::to_string(level + 1); }

template <class Position>
support::Result<void> check_positions(const schaas_level& level, std::int64_t parents, int l,
                                      const std::string& name) {
  const auto* pos = static_cast<const Position*>(level.pos);
  if (pos[0] != 0)
    return broken(name, level_text(l) + ": positions start at " + std::to_string(pos[0]) + ", not 0");
  for (std::int64_t p = 0; p < parents; ++p) {
    if (pos[p + 1] < pos[p]) {
      return broken(name, level_text(l) + ": position " + std::to_string(p + 1) + " is " +
                              std::to_string(pos[p + 1]) + ", below its predecessor " +
                              std::to_string(pos[p]));
    }
  }
  if (pos[parents] != level.entries) {
    return broken(name, level_text(l) + ": positions end at " + std::to_string(pos[parents]) +
                            ", but there are " + std::to_string(level.entries) + " coordinates");
  }
  return {};
}

template <class Position>
support::Result<void> check_coordinates(const schaas_level& level, std::int64_t parents, std::int64_t extent,
                                        int l, const std::string& name) {
  const auto* pos = static_cast<const Position*>(level.pos);
  const auto* crd = static_cast<const Position*>(level.crd);
  std::atomic<std::int64_t> bad{-1};
#pragma omp parallel for schedule(static) if (level.entries > 1000000)
  for (std::int64_t p = 0; p < parents; ++p) {
    std::int64_t last = -1;
    for (std::int64_t q = pos[p]; q < pos[p + 1]; ++q) {
      if (crd[q] <= last || crd[q] >= extent) {
        std::int64_t none = -1;
        bad.compare_exchange_strong(none, q);
        break;
      }
      last = crd[q];
    }
  }
  const std::int64_t q = bad.load();
  if (q < 0) return {};
  const std::string where =
      level_text(l) + ": coordinate " + std::to_string(crd[q]) + " at position " + std::to_string(q);
  if (crd[q] < 0 || crd[q] >= extent) {
    return broken(name, where + " is outside 0.." + std::to_string(extent - 1));
  }
  return broken(name,
                where + " does not follow " + std::to_string(crd[q - 1]) + ": sorted and unique is expected");
}

template <class Position>
support::Result<void> check_compressed(const schaas_level& level, std::int64_t parents, std::int64_t extent,
                                       int l, const std::string& name) {
  SCHAAS_RETURN_IF_ERROR(check_positions<Position>(level, parents, l, name));
  return check_coordinates<Position>(level, parents, extent, l, name);
}

support::Result<void> check_level(const schaas_tensor& tensor, int l, std::int64_t parents,
                                  const std::string& name) {
  const schaas_level& level = tensor.levels[l];
  const std::int64_t extent = tensor.extents[tensor.mode_order[l]];
  if (level.format == SCHAAS_LEVEL_DENSE) {
    std::int64_t entries = 0;
    if (__builtin_mul_overflow(parents, extent, &entries) || entries != level.entries) {
      return broken(name, level_text(l) + ": " + std::to_string(level.entries) + " entries, but " +
                              std::to_string(parents) + " parents of extent " + std::to_string(extent));
    }
    return {};
  }
  if (level.format != SCHAAS_LEVEL_COMPRESSED) {
    return broken(name, level_text(l) + ": unknown level format " + std::to_string(level.format));
  }
  if (level.index_bits != 32 && level.index_bits != 64) {
    return broken(name, level_text(l) + ": positions of " + std::to_string(level.index_bits) + " bits");
  }
  if (level.pos == nullptr || level.entries < 0 || (level.crd == nullptr && level.entries > 0)) {
    return broken(name, level_text(l) + ": arrays are missing");
  }
  return level.index_bits == 32 ? check_compressed<std::int32_t>(level, parents, extent, l, name)
                                : check_compressed<std::int64_t>(level, parents, extent, l, name);
}

}  // namespace

support::Result<void> validate(const schaas_tensor& tensor, const std::string& name) {
  std::vector<bool> seen(tensor.order, false);
  std::int64_t parents = 1;
  for (int l = 0; l < tensor.order; ++l) {
    const std::int32_t mode = tensor.mode_order[l];
    if (mode < 0 || mode >= tensor.order || seen[mode])
      return broken(name, "mode order is not a permutation");
    seen[mode] = true;
    if (tensor.extents[mode] < 0) return broken(name, "has a negative extent");
    SCHAAS_RETURN_IF_ERROR(check_level(tensor, l, parents, name));
    parents = tensor.levels[l].entries;
  }
  if (tensor.values == nullptr && parents > 0) return broken(name, "has no values");
  return {};
}

support::Result<void> check_positions_fit(int bits, std::int64_t extent, std::int64_t entries, int level,
                                          const std::string& name) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  if (bits == 64 || (extent <= largest && entries <= largest)) return {};
  const std::string what =
      extent > largest ? "extent " + std::to_string(extent) : std::to_string(entries) + " entries";
  return support::invalid("position-overflow", "level " + std::to_string(level + 1) + " of `" + name +
                                                   "` has " + what +
                                                   ", too many for 32-bit positions: use 64-bit positions");
}

std::string shape_text(const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return "scalar";
  std::string text;
  for (const std::int64_t extent : extents) {
    if (!text.empty()) text += 'x';
    if (extent < 0) {
      text += '?';
    } else {
      text += std::to_string(extent);
    }
  }
  return text;
}

support::Result<void> check_format(int order, const format::TensorFormat& format, const std::string& name) {
  if (format.order() == order) return {};
  return support::invalid("format-rank", "`" + name + "` has " + std::to_string(order) +
                                             " modes but its format " + format::print(format) + " has " +
                                             std::to_string(format.order()) + " levels");
}

support::Result<void> check_entries(const CooTensor& tensor, const std::string& name) {
  if (tensor.coordinates.size() != tensor.extents.size())
    return broken(name, "has coordinates for another number of modes");
  for (int m = 0; m < tensor.order(); ++m) {
    const std::int64_t extent = tensor.extents[m];
    const std::vector<std::int64_t>& coordinates = tensor.coordinates[m];
    if (extent < 0) return broken(name, "has a negative extent");
    if (coordinates.size() != tensor.entries()) return broken(name, "has lists of different lengths");
    const auto bad = std::find_if(coordinates.begin(), coordinates.end(),
                                  [extent](std::int64_t c) { return c < 0 || c >= extent; });
    if (bad == coordinates.end()) continue;
    return support::invalid("coordinate-range",
                            "entry " + std::to_string(bad - coordinates.begin() + 1) + " of `" + name +
                                "` has coordinate " + std::to_string(*bad) + " in mode " +
                                std::to_string(m + 1) + ", whose extent is " + std::to_string(extent));
  }
  return {};
}

}  // namespace schaas::client

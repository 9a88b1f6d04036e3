#include <algorithm>
#include <limits>
#include <optional>

#include "client/cpp/tensor/entry_order.h"
#include "client/cpp/tensor/struct_check.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "schaas/tensor.h"

// Validation of the contents of arrays, which may come from anybody. Fast loops without branches
// (entry_order.cc) say that an array is right; an array that is wrong is searched once more for the first
// fault, which the message names. Positions of all levels are checked before any coordinate is read through
// them. In bounds-only trust the order of entries is not looked at.
namespace schaas::client {
namespace {

template <class Position>
support::Result<void> check_positions(const schaas_level& level, std::int64_t parents, int l,
                                      const std::string& name, int threads) {
  const auto* pos = static_cast<const Position*>(level.pos);
  // An element 0 exists: positions have parents + 1 elements, which the struct's check requires.
  if (pos[0] != 0) return broken_level(name, l, "positions start at " + std::to_string(pos[0]) + ", not 0");
  const bool ascending = ascend(pos, parents, threads);
  for (std::int64_t p = 0; !ascending && p < parents; ++p) {
    if (pos[p + 1] < pos[p]) {
      return broken_level(name, l,
                          "position " + std::to_string(p + 1) + " is " + std::to_string(pos[p + 1]) +
                              ", below its predecessor " + std::to_string(pos[p]));
    }
  }
  // With ascending positions from 0 and this last one every position lies in [0, entries].
  if (pos[parents] != level.entries) {
    return broken_level(name, l,
                        "positions end at " + std::to_string(pos[parents]) + ", but there are " +
                            std::to_string(level.entries) + " coordinates");
  }
  return {};
}

// A compressed level and the singletons that tell its coordinates apart: together they are sorted and unique.
template <class Position>
class Chain {
 public:
  Chain(const schaas_tensor& tensor, int first, std::int64_t parents)
      : first_(first), head_(tensor.levels[first]) {
    lists_.pos = static_cast<const Position*>(head_.pos);
    lists_.parents = parents;
    lists_.entries = head_.entries;
    do {
      lists_.crd.push_back(static_cast<const Position*>(tensor.levels[first].crd));
      lists_.extents.push_back(tensor.extents[tensor.mode_order[first]]);
    } while (!format::is_unique(level_format(tensor.levels[first++])));
  }

  // Entries of an unordered list may come out of order and still be right: each row is then sorted and
  // searched.
  support::Result<void> check(const std::string& name, int threads, Trust trust) const {
    const bool is_right =
        trust == Trust::bounds ? inside_extents(lists_, threads) : in_order(lists_, threads);
    if (is_right) return {};
    const std::int64_t bad = trust == Trust::bounds ? first_outside()
                             : is_ordered()         ? first_out_of_order()
                                                    : first_misplaced();
    return bad < 0 ? support::Result<void>() : describe(bad, name);
  }

 private:
  // The first level, counted from the head, at which an entry is outside the extent; or -1.
  int outside(std::int64_t q) const {
    for (std::size_t l = 0; l < lists_.crd.size(); ++l) {
      if (lists_.crd[l][q] < 0 || lists_.crd[l][q] >= lists_.extents[l]) return static_cast<int>(l);
    }
    return -1;
  }
  // Compares lexicographically: the first level with different coordinates decides.
  bool follows(std::int64_t q) const {
    for (const Position* crd : lists_.crd) {
      if (crd[q] != crd[q - 1]) return crd[q] > crd[q - 1];
    }
    return false;
  }
  bool is_ordered() const { return format::is_ordered(level_format(head_)); }
  std::int64_t first_outside() const {
    for (std::int64_t q = 0; q < lists_.entries; ++q)
      if (outside(q) >= 0) return q;
    return -1;
  }
  std::int64_t first_out_of_order() const {
    for (std::int64_t p = 0; p < lists_.parents; ++p) {
      for (std::int64_t q = lists_.pos[p]; q < lists_.pos[p + 1]; ++q)
        if (outside(q) >= 0 || (q > lists_.pos[p] && !follows(q))) return q;
    }
    return -1;
  }
  // Returns the first entry of an unordered list that is outside the extent, or there twice; -1 when there is
  // none. An unordered level has no singletons below it, so one list of coordinates is enough.
  std::int64_t first_misplaced() const {
    std::vector<Position> sorted;
    for (std::int64_t p = 0; p < lists_.parents; ++p) {
      const Position *begin = lists_.crd[0] + lists_.pos[p], *end = lists_.crd[0] + lists_.pos[p + 1];
      const auto* beyond =
          std::find_if(begin, end, [&](Position c) { return c < 0 || c >= lists_.extents[0]; });
      if (beyond != end) return beyond - lists_.crd[0];
      sorted.assign(begin, end);
      std::sort(sorted.begin(), sorted.end());
      const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      // The second of the equal coordinates, in storage order, is the one to report.
      if (twice != sorted.end())
        return std::find(std::find(begin, end, *twice) + 1, end, *twice) - lists_.crd[0];
    }
    return -1;
  }
  support::Diagnostic describe(std::int64_t q, const std::string& name) const {
    const int l = std::max(outside(q), 0);
    const std::string where =
        "coordinate " + std::to_string(lists_.crd[l][q]) + " at position " + std::to_string(q);
    const auto fault = [&](const std::string& what) { return broken_level(name, first_ + l, where + what); };
    if (outside(q) >= 0) return fault(" is outside 0.." + std::to_string(lists_.extents[l] - 1));
    if (!is_ordered()) return fault(" is there already: distinct ones are expected");
    return fault(" does not follow " + std::to_string(lists_.crd[0][q - 1]) +
                 ": sorted and unique is expected" +
                 (lists_.crd.size() > 1 ? ", together with the singleton levels below" : ""));
  }

  int first_;
  const schaas_level& head_;
  EntryLists<Position> lists_;
};

// OR-ing all bytes takes one vectorised pass; a byte above 1 leaves a higher bit.
support::Result<void> check_bitmap(const schaas_level& level, int l, const std::string& name) {
  const auto* held = static_cast<const std::uint8_t*>(level.crd);
  std::uint8_t bits = 0;
  for (std::int64_t p = 0; p < level.entries; ++p) bits |= held[p];
  if (bits <= 1) return {};
  const auto* bad = std::find_if(held, held + level.entries, [](std::uint8_t byte) { return byte > 1; });
  return broken_level(
      name, l,
      "byte " + std::to_string(*bad) + " at position " + std::to_string(bad - held) + ": 0 or 1 is expected");
}

// Bands of length 0 have no first coordinate. The bounds are written so that no sum overflows.
template <class Position>
support::Result<void> check_bands(const schaas_level& level, std::int64_t parents, std::int64_t extent, int l,
                                  const std::string& name) {
  const auto* pos = static_cast<const Position*>(level.pos);
  const auto* first = static_cast<const Position*>(level.crd);
  const auto leaves = [=](std::int64_t p) {
    const std::int64_t count = pos[p + 1] - pos[p], begin = first[p];
    return (count != 0) & ((begin < 0) | (count > extent) | (begin > extent - count));
  };
  bool any = false;
  for (std::int64_t p = 0; p < parents; ++p) any |= leaves(p);
  for (std::int64_t p = 0; any; ++p) {
    if (!leaves(p)) continue;
    return broken_level(name, l,
                        "a band of " + std::to_string(pos[p + 1] - pos[p]) + " from coordinate " +
                            std::to_string(first[p]) + " at parent " + std::to_string(p) +
                            " is not inside 0.." + std::to_string(extent - 1));
  }
  return {};
}

// Returns why a table is none: each coordinate is where a search for it ends, and each search ends.
template <class Position>
std::optional<std::string> fault_of_table(const Position* crd, std::int64_t size, std::int64_t extent) {
  if (size == 0) return {};
  const auto mask = static_cast<std::uint64_t>(size) - 1;
  const std::int64_t taken = size - std::count(crd, crd + size, Position{-1});
  if (size < 2 || (static_cast<std::uint64_t>(size) & mask) != 0 || 2 * taken > size) {
    return std::to_string(size) + " slots with " + std::to_string(taken) +
           " taken; a power of two and at most half is expected";
  }
  for (std::int64_t p = 0; p < size; ++p) {
    if (crd[p] == -1) continue;
    if (crd[p] < 0 || crd[p] >= extent)
      return "coordinate " + std::to_string(crd[p]) + " is outside 0.." + std::to_string(extent - 1);
    // The table is half empty at least (checked above), so the probe ends.
    std::uint64_t at = schaas_hash(static_cast<std::uint64_t>(crd[p])) & mask;
    while (crd[at] != crd[p] && crd[at] != -1) at = (at + 1) & mask;
    if (static_cast<std::int64_t>(at) != p)
      return "coordinate " + std::to_string(crd[p]) + " in place " + std::to_string(p) +
             " is looked for in place " + std::to_string(at);
  }
  return {};
}

template <class Position>
support::Result<void> check_tables(const schaas_level& level, std::int64_t parents, std::int64_t extent,
                                   int l, const std::string& name) {
  const auto* pos = static_cast<const Position*>(level.pos);
  const auto* crd = static_cast<const Position*>(level.crd);
  for (std::int64_t p = 0; p < parents; ++p) {
    const auto fault = fault_of_table(crd + pos[p], pos[p + 1] - pos[p], extent);
    if (fault) return broken_level(name, l, "table " + std::to_string(p) + ": " + *fault);
  }
  return {};
}

std::int64_t parents_of(const schaas_tensor& tensor, int l) {
  return l == 0 ? 1 : tensor.levels[l - 1].entries;
}

support::Result<void> check_coordinates(const schaas_tensor& tensor, int l, const std::string& name,
                                        int threads, Trust trust) {
  const schaas_level& level = tensor.levels[l];
  const format::LevelFormat kind = level_format(level);
  if (format::coordinates(kind) == format::Coordinates::presence) return check_bitmap(level, l, name);
  if (format::computes_positions(kind) || format::is_singleton(kind)) return {};
  const std::int64_t parents = parents_of(tensor, l);
  if (format::coordinates(kind) == format::Coordinates::slots) {
    const std::int64_t extent = tensor.extents[tensor.mode_order[l]];
    return level.index_bits == 32 ? check_tables<std::int32_t>(level, parents, extent, l, name)
                                  : check_tables<std::int64_t>(level, parents, extent, l, name);
  }
  if (format::coordinates(kind) == format::Coordinates::first) {
    const std::int64_t extent = tensor.extents[tensor.mode_order[l]];
    return level.index_bits == 32 ? check_bands<std::int32_t>(level, parents, extent, l, name)
                                  : check_bands<std::int64_t>(level, parents, extent, l, name);
  }
  return level.index_bits == 32 ? Chain<std::int32_t>(tensor, l, parents).check(name, threads, trust)
                                : Chain<std::int64_t>(tensor, l, parents).check(name, threads, trust);
}

}  // namespace

support::Result<void> validate(const schaas_tensor& tensor, const std::string& name, int threads,
                               Trust trust) {
  SCHAAS_RETURN_IF_ERROR(check_struct(tensor, name));
  for (int l = 0; l < tensor.order; ++l) {
    const schaas_level& level = tensor.levels[l];
    const format::LevelFormat kind = level_format(level);
    if (format::computes_positions(kind) || format::is_singleton(kind)) continue;
    const std::int64_t parents = parents_of(tensor, l);
    SCHAAS_RETURN_IF_ERROR(level.index_bits == 32
                               ? check_positions<std::int32_t>(level, parents, l, name, threads)
                               : check_positions<std::int64_t>(level, parents, l, name, threads));
  }
  for (int l = 0; l < tensor.order; ++l)
    SCHAAS_RETURN_IF_ERROR(check_coordinates(tensor, l, name, threads, trust));
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

#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace schaas::format {

/// Storage of one mode. Properties are rows of a table, after Chou, Kjolstad, Amarasinghe, OOPSLA 2018,
/// section 3; docs/formats.md has pictures. Values are the numbers of the kernel ABI (proto/kernel_abi.h).
enum class LevelFormat {
  dense,                 ///< every coordinate 0..extent-1 of every parent
  compressed,            ///< positions pos[p]..pos[p+1] hold sorted unique coordinates crd
  compressed_nonunique,  ///< the same, sorted; equal coordinates are told apart by the singleton levels below
  singleton,             ///< one coordinate for each position of the level above, which is not unique
  singleton_nonunique,   ///< the same, and equal coordinates are told apart further below
  bitmap,                ///< a position for every coordinate of every parent, with a presence byte
  banded,                ///< pos[p+1] - pos[p] neighbouring coordinates of parent p, from crd[p] on
  hashed,                ///< a table of coordinates for each parent, in no order
  compressed_unordered,  ///< as compressed, coordinates in the order in which a kernel met them: of results
};

/// Coordinates that a level stores.
enum class Coordinates {
  none,      ///< every coordinate of every parent is held: nothing is stored
  presence,  ///< a byte for every coordinate of every parent
  first,     ///< the first one of each parent: the others follow without a gap
  list,      ///< one for each entry
  slots,     ///< one for each slot of a hash table, negative in empty slots
};

struct LevelProperties {
  LevelFormat format;
  std::string_view name;  ///< in texts
  Coordinates coordinates;
  bool unique = false;  ///< no coordinate twice below one parent
  bool branchless =
      false;  ///< exactly one entry for each parent position: coordinates share the parent's position
};

/// Hash tables have fewer slots than this for each entry.
inline constexpr int max_slots_per_entry = 4;

/// One row for each level format, in the order of their numbers.
const std::vector<LevelProperties>& all_levels();
const LevelProperties& properties(LevelFormat level);
/// The level format of a number of the kernel ABI; nothing for an unknown number.
std::optional<LevelFormat> level_of(std::int32_t number);

inline Coordinates coordinates(LevelFormat level) { return properties(level).coordinates; }
/// Holds only some coordinates.
inline bool is_sparse(LevelFormat level) { return coordinates(level) != Coordinates::none; }
/// A list whose coordinates ascend below one parent.
inline bool is_ordered(LevelFormat level) { return level != LevelFormat::compressed_unordered; }
/// Holds only some coordinates, and tells of any of them whether it does, and where, without a walk.
inline bool is_located(LevelFormat level) {
  return is_sparse(level) && coordinates(level) != Coordinates::list;
}
/// The position of a coordinate is parent * extent + coordinate: the level has no array of positions.
inline bool computes_positions(LevelFormat level) {
  return coordinates(level) == Coordinates::none || coordinates(level) == Coordinates::presence;
}
/// Some of its positions may hold no coordinate.
inline bool has_empty_positions(LevelFormat level) {
  return coordinates(level) == Coordinates::presence || coordinates(level) == Coordinates::slots;
}
/// Each coordinate it holds leads to a stored value.
inline bool holds_entries(LevelFormat level) {
  return is_sparse(level) && coordinates(level) != Coordinates::first;
}
inline bool is_unique(LevelFormat level) { return properties(level).unique; }
/// Shares the positions of the level above.
inline bool is_singleton(LevelFormat level) { return properties(level).branchless; }

}  // namespace schaas::format

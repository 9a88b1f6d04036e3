#pragma once
#include <string_view>
#include <vector>

namespace schaas::format {

/// Storage of one mode. Capabilities are rows of a table, after Chou, Kjolstad, Amarasinghe, OOPSLA 2018,
/// section 3; docs/formats.md has pictures.
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

struct LevelProperties {
  LevelFormat format;
  std::string_view name;  ///< in texts
  bool full;              ///< holds every coordinate: an entry that is absent above is all that can be absent
  bool unique;            ///< no coordinate twice below one parent
  bool branchless;  ///< exactly one entry for each parent position: coordinates share the parent's position
  bool compact;     ///< no unused positions between entries
  bool locate;      ///< the position of a given coordinate is arithmetic
  bool append;      ///< a kernel can write it in order
  bool insert;      ///< a kernel can write it in any order
};

const LevelProperties& properties(LevelFormat level);
const std::vector<LevelProperties>& all_levels();

/// Holds only some coordinates.
inline bool is_sparse(LevelFormat level) { return !properties(level).full; }
/// A list whose coordinates ascend below one parent.
inline bool is_ordered(LevelFormat level) { return level != LevelFormat::compressed_unordered; }
/// Holds only some coordinates, and tells of any of them whether it does, and where, without a walk.
inline bool is_located(LevelFormat level) { return is_sparse(level) && properties(level).locate; }
/// Each coordinate it holds leads to a stored value.
inline bool holds_entries(LevelFormat level) { return is_sparse(level) && level != LevelFormat::banded; }
inline bool is_unique(LevelFormat level) { return properties(level).unique; }
/// Shares the positions of the level above.
inline bool is_singleton(LevelFormat level) { return properties(level).branchless; }

}  // namespace schaas::format

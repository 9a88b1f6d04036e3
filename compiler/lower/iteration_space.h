#pragma once
#include <optional>
#include <vector>

#include "compiler/lower/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// Which coordinates a loop visits, what it walks to find them, and what it asks at each of them.
struct LoopSpace {
  enum class Kind {
    range,         ///< the whole extent; nothing is walked
    band,          ///< the coordinates that the bands of all cursors hold
    table,         ///< the places of the one cursor's table, taken or free, in no order
    walk,          ///< the entries of the one cursor
    intersection,  ///< coordinates that all cursors hold
    merge,         ///< coordinates that any cursor holds, or the whole extent (`whole`)
  } kind = Kind::range;
  std::vector<merge_lattice::LevelAccess> cursors;  ///< by operand
  std::vector<merge_lattice::LevelAccess> located;  ///< asked whether they hold the coordinate; by operand
  bool whole = false;
  /// The body is needed only where this holds; nothing: wherever the loop comes.
  std::optional<merge_lattice::Formula> condition;

  /// Coordinates may be left out.
  bool skips() const { return condition || (kind != Kind::range && !whole); }
};

/// Where the value of a leaf has to be evaluated along the index, and what it is elsewhere.
merge_lattice::Space leaf_space(const Leaf& leaf, int index, const NestTree& tree);

/// Whether the level is held at a coordinate wherever the formula is true.
bool implies(const merge_lattice::Formula& formula, const merge_lattice::LevelAccess& level);

/// The space of a loop over `index` around `body`: for a leaf what its value makes it (merge_lattice.h); a
/// branch is its consumer, for which the temporary is what it starts from wherever its producer has nothing
/// to do. A loop over a dense level of the result above one of its compressed levels visits everything, so
/// that every parent gets its positions.
LoopSpace loop_space(const NestPtr& body, int index, const NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include <optional>
#include <vector>

#include "compiler/lower/analysis/nest.h"
#include "compiler/merge_lattice/merge_lattice.h"

namespace schaas::lower {

/// Coordinates that a loop visits: the levels it walks and those it locates.
struct LoopSpace {
  enum class Kind {
    range,         ///< the whole extent; nothing is walked
    band,          ///< the coordinates that the bands of all cursors hold
    table,         ///< slots of the one cursor's table, occupied or free, in no order
    walk,          ///< the entries of the one cursor
    intersection,  ///< coordinates that all cursors hold
    merge,         ///< coordinates that any cursor holds, or the whole extent (`whole`)
  } kind = Kind::range;
  std::vector<merge_lattice::LevelAccess> cursors;  ///< by operand
  std::vector<merge_lattice::LevelAccess> located;  ///< levels located at each coordinate; by operand
  bool whole = false;
  /// The body runs only where this holds; nothing: at every coordinate.
  std::optional<merge_lattice::Formula> condition;
  /// The loop visits everything, so that every parent gets positions, and entries are made where this holds.
  std::optional<merge_lattice::Formula> makes_entries{};

  /// The loop may leave out coordinates.
  bool skips() const { return condition || (kind != Kind::range && !whole); }
};

/// Returns where the value of a leaf must be evaluated along the index, and its value elsewhere.
merge_lattice::Space leaf_space(const Leaf& leaf, int index, const NestTree& tree);

/// The level holds every coordinate at which the formula is true.
bool implies(const merge_lattice::Formula& formula, const merge_lattice::LevelAccess& level);

/// Returns the space of a loop over `index` around `body`. A leaf has that of its value (merge_lattice.h). A
/// branch has that of its consumer, where the temporary keeps its start value at coordinates its producer
/// skips. A loop over a dense level of the result above a compressed one visits everything.
LoopSpace loop_space(const NestPtr& body, int index, const NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include <string>

#include "compiler/loop_ir/expressions.h"

/// Statements of the loop IR for rows of sparse results: sparse accumulators (occupancy, compaction),
/// expand-sort-compress, and supernodes.
namespace schaas::loop_ir {

/// Functions of a semiring that multiply the entries of rows and fold them: `multiply` and `sum` of
/// plus-times.
struct RowArithmetic {
  operators::Function product = operators::Function::multiply;
  operators::Monoid monoid = operators::Monoid::sum;
  bool operator==(const RowArithmetic&) const = default;
};
/// Occupancy of indices [0, extent): `array`, bytes of scratch, one for each index and one for each group of
/// indices (occupancy_bytes); `list`, indices (list_elements); the counter `count`, 0 before the first one.
struct Occupancy {
  std::string array, list, count;
  ExpressionPtr extent;
};
/// Occupies `index`.
struct Occupy {
  Occupancy occupancy;
  ExpressionPtr index;
};
/// Byte of an occupied index, and of its group.
inline constexpr int occupied_byte = 255;
/// Prepares `times` indices between `first` and `last`. When they are clustered, many to a group, occupies
/// their groups and sets the index `clustered` to 1; each index then needs only its own byte (occupied_byte).
/// Else sets it to 0, and each index must be occupied. `first` and `last` are evaluated only when there is an
/// index.
struct OccupyGroups {
  std::string clustered;
  Occupancy occupancy;
  ExpressionPtr first, last, times;
};
/// Compacts the occupied indices into the list, each once, ascending, sets the counter to their number, and
/// clears the map.
struct Compact {
  Occupancy occupancy;
};
/// Terms whose sums are a row of a sparse result, in no order: `list`, their coordinates, and `values`,
/// term_elements each, in scratch; the counter `count` is their number, at most max_terms.
struct Terms {
  std::string list, values, count;
  RowArithmetic arithmetic{};
};
inline constexpr int max_terms = 128;
inline constexpr int term_elements = max_terms + 16;  ///< whole vectors are stored
/// Appends a term for each position p of [begin, end), in order: scale * values[p] at coordinate
/// coordinates[p].
struct Expand {
  Terms terms;
  std::string coordinates, values;
  ExpressionPtr begin, end, scale;
};
/// Sums the terms of each coordinate, in their order, and sorts the coordinates.
struct Compress {
  Terms terms;
};
inline constexpr int min_supernode_entries = 16;
/// Adds rows of a supernode at once. They are those of the position of a loop's `variable` and of the next
/// ones below `end` with identical coordinates, at most four. Position p adds row r = rows[p]: for each q of
/// [positions[r], positions[r + 1]) scale * factors[p] * values[q] to sums[coordinates[q]], whose byte in
/// `set` becomes occupied_byte. The loop continues after the last of them. The first row has
/// min_supernode_entries entries or more.
struct AddSupernode {
  std::string variable, rows, factors;
  ExpressionPtr end, scale;
  std::string positions, coordinates, values;
  std::string sums, set;
};

}  // namespace schaas::loop_ir

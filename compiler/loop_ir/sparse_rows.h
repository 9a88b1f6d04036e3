#pragma once
#include <string>

#include "compiler/loop_ir/expressions.h"

/// Statements of the loop IR that gather the rows of sparse results: what is marked and collected, expanded
/// and compressed, or added from rows that are alike.
namespace schaas::loop_ir {

/// What remembers places of [0, extent): `array`, bytes of the workspace, one for each place and one for each
/// group of places (mark_bytes); `list`, indices (list_elements); the counter `count`, 0 before the first
/// mark.
struct Marks {
  std::string array, list, count;
  ExpressionPtr extent;
};
/// `place` is one of those that are remembered.
struct Mark {
  Marks marks;
  ExpressionPtr place;
};
/// The byte of a place that is remembered, as of its group.
inline constexpr int marked_place = 255;
/// Places between `first` and `last`, `times` of them, come next. Where they lie near each other, many to a
/// group, their groups are remembered here and the index `near` is 1: its byte (marked_place) is all that
/// each place still needs. Else `near` is 0, and each is to be marked. `first` and `last` are asked for when
/// there is a place.
struct MarkGroups {
  std::string near;
  Marks marks;
  ExpressionPtr first, last, times;
};
/// The places that were marked are in the list, each once, ascending; the counter is how many. Nothing is
/// marked afterwards.
struct Collect {
  Marks marks;
};
/// Terms that rows of a sparse result are sums of, in no order: `list`, their coordinates, and `values`,
/// term_elements each, of the workspace; the counter `count` is how many there are, most_terms at most.
struct Terms {
  std::string list, values, count;
};
inline constexpr int most_terms = 128;
inline constexpr int term_elements = most_terms + 16;  ///< vectors are stored whole
/// Of each position p of [begin, end), in order, a term: scale * values[p] with coordinate coordinates[p].
/// `count` grows by as many.
struct Expand {
  Terms terms;
  std::string coordinates, values;
  ExpressionPtr begin, end, scale;
};
/// Terms of one coordinate become one, the sum of them in their order; the coordinates ascend.
struct Compress {
  Terms terms;
};
inline constexpr int long_row = 16;
/// Of a matrix, rows that have the same coordinates are added at once: those of the position that a loop's
/// `variable` is at and of the next ones below `end` that are alike, four at most. Position p adds row
/// r = rows[p]: for each q of [positions[r], positions[r + 1]) scale * factors[p] * values[q] to
/// sums[coordinates[q]], whose byte in `set` becomes marked_place. The loop goes on after the last of them.
/// The first of the rows has long_row entries or more.
struct AddAlike {
  std::string variable, rows, factors;
  ExpressionPtr end, scale;
  std::string positions, coordinates, values;
  std::string sums, set;
};

}  // namespace schaas::loop_ir

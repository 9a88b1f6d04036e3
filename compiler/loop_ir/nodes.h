#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/loop_ir/expressions.h"
#include "compiler/loop_ir/sparse_rows.h"
#include "compiler/operators/operators.h"

/// Loop IR: loops, names, loads, stores, buffers. It knows nothing of tensor formats, only arrays of
/// positions, coordinates and values. README.md describes text form and semantics; see also printer.h,
/// parser.h, verifier.h.
namespace schaas::loop_ir {

struct Statement;
/// Immutable and shared.
using StatementPtr = std::shared_ptr<const Statement>;

struct Block {
  std::vector<StatementPtr> statements;
};
/// Folds the values of the `width` threads of a group, which arrive together.
struct GroupFold {
  int width = 1;
  operators::Monoid monoid = operators::Monoid::sum;
  bool operator==(const GroupFold&) const = default;
};
/// let name: type = value; visible until the end of the enclosing block.
struct Let {
  std::string name;
  Type type = Type::index;
  ExpressionPtr value;
  /// Above 1: a load that brings so many adjacent values with one instruction; the next lets of the block are
  /// those of the others. Only where the phase knows that they are aligned (Alignment).
  int wide = 1;
  std::optional<GroupFold> fold{};  ///< the name holds what the group folds, for each of its threads
};
/// A value that starts at the monoid's identity, or at `initial`, and changes only by Accumulate.
struct Accumulator {
  std::string name;
  operators::Monoid monoid = operators::Monoid::sum;
  std::optional<double> initial{};
};
/// Folds `value` into the accumulator with its monoid.
struct Accumulate {
  std::string name;
  ExpressionPtr value;
};
enum class Write { set, fold, atomic };
/// array[index] = value, or, of arrays of values, array[index] = monoid(array[index], value); atomic: in one
/// step for all threads.
struct Store {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::set;
  ExpressionPtr value;
  operators::Monoid monoid = operators::Monoid::sum;  ///< for folds and atomic writes
  /// Above 1: writes so many adjacent values with one instruction; the next stores of the block are those of
  /// the others. Only where the phase knows that they are aligned (Alignment).
  int wide = 1;
};
/// A write by groups of `width` threads of a GPU that arrive together at array[index]: their values are
/// folded, and the first thread writes as `mode` says. Only in phases with a thread mapping.
struct GroupStore {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::set;
  ExpressionPtr value;
  operators::Monoid monoid = operators::Monoid::sum;
  int width = 1;
  int wide = 1;  ///< as of Store
};
/// Declares a deferred atomic update, empty at first: the sum a thread has computed for an element of the
/// array but not written. Visible until the end of the enclosing block.
struct Deferred {
  std::string name, array;
  operators::Monoid monoid = operators::Monoid::sum;
};
/// array[index] = monoid(array[index], value), deferred. An update pending for another element is written
/// atomically first.
struct Defer {
  std::string name;
  ExpressionPtr index, value;
};
/// Writes the deferred updates of each group of `width` threads, which arrive together. Adjacent threads with
/// the same element fold first, and the first of them writes atomically.
struct Flush {
  std::string name;
  int width = 1;
};
/// Copies elements [begin, begin + count) of arrays into staged ones, from their beginning. The `threads` of
/// a group arrive together; none goes on before all is copied, nor does the copy begin before all arrive.
struct Stage {
  struct Copy {
    std::string to, from;
    bool operator==(const Copy&) const = default;
  };
  int threads = 1;
  ExpressionPtr begin, count;
  std::vector<Copy> copies;
};
/// Runs the body when `condition`, an index or a value, is not zero.
struct If {
  ExpressionPtr condition;
  StatementPtr body;
};
/// An index that SetCounter changes; visible until the end of the enclosing block.
struct Counter {
  std::string name;
  ExpressionPtr initial;
};
struct SetCounter {
  std::string name;
  ExpressionPtr value;
};
/// Ways to execute the iterations of a For.
enum class Shape {
  scalar,  ///< in order
  simd,    ///< in any grouping: they write distinct elements, or only feed accumulators declared outside
  vector,  ///< several at once, one register lane each: names that depend on the loop variable are values,
           ///< loaded from or stored to `invariant + variable`, and decide no loop bound
};
/// Parts that unroll and jam makes of a loop: one over whole groups, and the values below a whole group.
enum class Part { whole, jammed, remainder };
/// A whole row that a loop, or its parts together, runs along: the elements array[offset + variable], where
/// offset = row * end of the whole loop. `row` and `offset` are names.
struct RowAlong {
  std::string array, offset, row;
  bool operator==(const RowAlong&) const = default;
};
/// The entries of a row: positions first(row) .. first(row + 1), where first(x) applies arrays of positions
/// to x one after another, those of the outermost level first. Rows adjoin: one ends where the next one
/// begins.
struct RowEntries {
  std::string row;  ///< name
  std::vector<std::string> positions;
  bool operator==(const RowEntries&) const = default;
};
/// The entry that each iteration appends: at `position`, where the counter stood; the counter then grows by
/// one.
struct AppendedEntry {
  std::string counter, position;
  bool operator==(const AppendedEntry&) const = default;
};
/// A row that a loop over entries adds to a sparse accumulator: it occupies each coordinate k in `set` and
/// folds factor * values[variable] into sums[k]. Nothing else is in its body.
struct AddedRow {
  /// `clustered` and `scattered` loops add the same row: one of them runs, as OccupyGroups decides. The
  /// groups of clustered coordinates are occupied before.
  enum class Variant { only, clustered, scattered } variant = Variant::only;
  std::string values, sums, set;
  ExpressionPtr factor;
  /// factor = scale * factors[at], and `at` is the position that the loop around is at; "": another factor.
  std::string factors{}, at{};
  ExpressionPtr scale{};
  RowArithmetic arithmetic{};
};
/// for variable in begin..end (exclusive), each `step`-th value; a step above 1 goes with Shape::scalar.
struct For {
  std::string variable;
  ExpressionPtr begin, end;
  Shape shape = Shape::scalar;
  StatementPtr body;
  std::int64_t step = 1;
  int unroll = 1;  ///< iterations the printed code may unroll; above 1 with Shape::scalar
  /// In a loop over positions inside a vector loop: prefetches loads at `let k = coordinates[variable]` this
  /// many positions ahead, where the array is large; 0: no prefetching.
  int prefetch_distance = 0;
  /// Array of coordinates or indices whose entries [begin, end) the loop visits: positions are its elements;
  /// "": the loop visits no entries.
  std::string entries{};
  std::optional<RowEntries> row{};  ///< the row whose entries the loop, or its parts together, visits
  std::optional<AppendedEntry> appends{};
  bool overruns = false;  ///< later rows of the phase's range store again what this row stores past its end
  bool product = false;   ///< iterations are rows of dense products: vector loops around sums, no other loops
  /// A jammed loop has the number of copies as step; a remainder begins at a counter, its body is that of one
  /// iteration or, with the step of several, of as many as remain.
  Part part = Part::whole;
  bool interleaved = false;  ///< threads that share an iteration take values in turn, each from its lane on
  bool clears = false;       ///< clears the elements that the next loop of the block folds into
  /// Visits those entries of a row, `max(first, begin) .. min(past, end)`, that lie in the range of the
  /// phase. Sums of the row are its alone when they all do.
  bool cut = false;
  std::vector<RowAlong> along{};   ///< rows of arrays of values; the loop begins at 0
  std::optional<AddedRow> adds{};  ///< the row that a loop over entries adds to a sparse accumulator
};
/// One of the sorted lists of a Merge: `position` runs over [begin, end) of array `coordinates`. Where lists
/// may lack a coordinate, the index `present` is 1 when this one holds it; else `position` must not be loaded
/// from. With a name `until` the list may repeat a coordinate: its entries are [position, until). Without an
/// array the list holds [begin, end): positions are coordinates.
struct Cursor {
  std::string position;
  std::string coordinates;
  ExpressionPtr begin, end;
  std::string present{};
  std::string until{};
};
enum class MergeKind {
  all,    ///< every coordinate that all the lists hold
  first,  ///< the first of these, where there is one
  any,    ///< every coordinate that at least one list holds
};
/// Coordinates [begin, end).
struct Range {
  ExpressionPtr begin, end;
};
/// Visits coordinates in ascending order: binds `variable` to each and, of each cursor, `position`, `present`
/// and `until`. With `over`, visits every coordinate of that range; no list has a coordinate below
/// over.begin.
struct Merge {
  std::string variable;
  std::vector<Cursor> cursors;
  StatementPtr body;
  MergeKind kind = MergeKind::all;
  std::optional<Range> over{};
};
/// Sets `count` elements of an array, from `begin` on, to `value`.
struct Fill {
  std::string array;
  ExpressionPtr begin, count, value;
  bool row = false;  ///< the statements after it in the block access no other elements of the array
};
/// Prefetches an element of an array of values. `index` may lie past the array's end.
struct Prefetch {
  std::string array;
  ExpressionPtr index;
};
/// Sorts array[begin, end), indices, in place, ascending.
struct Sort {
  std::string array;
  ExpressionPtr begin, end;
};
/// Ends the phase: a hash table is too full. The caller gives the thread larger scratch and runs the range
/// again.
struct Overflow {};

struct Statement {
  std::variant<Block, Let, Accumulator, Accumulate, Store, If, Counter, SetCounter, For, Merge, Fill,
               Prefetch, Sort, Occupy, OccupyGroups, Compact, Expand, Compress, AddSupernode, GroupStore,
               Deferred, Defer, Flush, Stage, Overflow>
      node;
};

ExpressionPtr integer(std::int64_t value);
ExpressionPtr number(double value);
ExpressionPtr name(std::string text);
ExpressionPtr load(std::string array, ExpressionPtr index);
ExpressionPtr convert(ExpressionPtr index);
/// Makes an application as written, without folding constants.
ExpressionPtr apply(operators::Function function, std::vector<ExpressionPtr> arguments);
/// Folds integers and x + 0 of indices.
ExpressionPtr add(ExpressionPtr left, ExpressionPtr right);
/// Makes a difference as written.
ExpressionPtr subtract(ExpressionPtr left, ExpressionPtr right);
/// Folds integers and x * 1 of indices.
ExpressionPtr multiply(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr minimum(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr choose(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise);
ExpressionPtr search(std::string array, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr key,
                     Layout layout = Layout::ascending);
/// Returns the arguments of an application of `function`, or null.
const std::vector<ExpressionPtr>* arguments_of(const ExpressionPtr& expression, operators::Function function);

/// The function may be applied to indices (Apply).
bool takes_indices(operators::Function function);

/// Returns the number of bytes of an occupancy map over [0, extent).
ExpressionPtr occupancy_bytes(const ExpressionPtr& extent);
/// Returns the capacity of the list that an occupancy map is compacted into. It has one element for each
/// index, for each group during compaction, and for the first indices, which may repeat.
ExpressionPtr list_elements(const ExpressionPtr& extent);

/// Makes a block of several statements, leaving a single one as it is; and the inverse.
StatementPtr block(std::vector<StatementPtr> statements);
std::vector<StatementPtr> statements_of(const StatementPtr& statement);
template <class Node>
StatementPtr make(Node node) {
  return std::make_shared<const Statement>(Statement{std::move(node)});
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b);
bool equal(const StatementPtr& a, const StatementPtr& b);
bool is_name(const ExpressionPtr& expression, const std::string& name);  ///< the expression is that name
/// Returns the node when the statement is one of that kind, or null.
template <class Node>
const Node* as(const StatementPtr& statement) {
  return std::get_if<Node>(&statement->node);
}
/// Overload set for std::visit over the closed sets above, without a default branch.
template <class... F>
struct Match : F... {
  using F::operator()...;
};
template <class... F>
Match(F...) -> Match<F...>;

}  // namespace schaas::loop_ir

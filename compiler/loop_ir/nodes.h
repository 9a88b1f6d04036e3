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

/// Loop IR: loops, names, loads, stores, buffers. Knows nothing of tensors' formats: what is left of them are
/// arrays of positions, coordinates and values. Its text form and semantics are in README.md; printer.h,
/// parser.h, verifier.h.
namespace schaas::loop_ir {

struct Statement;
/// Immutable and shared.
using StatementPtr = std::shared_ptr<const Statement>;

struct Block {
  std::vector<StatementPtr> statements;
};
/// let name: type = value; seen until the end of the enclosing block.
struct Let {
  std::string name;
  Type type = Type::index;
  ExpressionPtr value;
};
/// A value that starts at the monoid's identity, or at `initial`, and changes only by Accumulate.
struct Accumulator {
  std::string name;
  operators::Monoid monoid = operators::Monoid::sum;
  std::optional<double> initial{};
};
/// The accumulator's monoid folds `value` into it.
struct Accumulate {
  std::string name;
  ExpressionPtr value;
};
enum class Write { set, fold, atomic };
/// array[index] = value, or, of arrays of values, array[index] = monoid(array[index], value); atomic: as one
/// step for all threads.
struct Store {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::set;
  ExpressionPtr value;
  operators::Monoid monoid = operators::Monoid::sum;  ///< of a fold or atomic
};
/// Of groups of `width` threads of a GPU that come by together and all write array[index]: what they have is
/// folded, and the first of them writes it, as `mode` says. Only in phases with units.
struct GroupStore {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::set;
  ExpressionPtr value;
  operators::Monoid monoid = operators::Monoid::sum;
  int width = 1;
};
/// What the thread has computed for an element of the array and not written yet; nothing. Seen until the end
/// of the enclosing block.
struct Pending {
  std::string name, array;
  operators::Monoid monoid = operators::Monoid::sum;
};
/// array[index] = monoid(array[index], value), later. What was pending of another element is written,
/// atomically.
struct Defer {
  std::string name;
  ExpressionPtr index, value;
};
/// The threads of each group of `width` come by together and write what is pending: neighbours that have the
/// same element fold it first, and the first of them writes, atomically.
struct Settle {
  std::string name;
  int width = 1;
};
/// The body when the index `condition` is not zero.
struct If {
  ExpressionPtr condition;
  StatementPtr body;
};
/// An index that SetCounter changes; seen until the end of the enclosing block.
struct Counter {
  std::string name;
  ExpressionPtr initial;
};
struct SetCounter {
  std::string name;
  ExpressionPtr value;
};
/// How the iterations of a For may be executed.
enum class Shape {
  scalar,  ///< in order
  simd,    ///< in any grouping: they write distinct elements, or only feed accumulators declared outside
  lanes,   ///< several at once with one register lane each: everything that depends on the loop variable is a
           ///< value, is loaded from or stored to `invariant + variable`, and decides no loop bound
};
/// for variable in begin..end (exclusive), each `step`-th value; a step above 1 goes with Shape::scalar.
struct For {
  std::string variable;
  ExpressionPtr begin, end;
  Shape shape = Shape::scalar;
  StatementPtr body;
  std::int64_t step = 1;
  int unroll = 1;  ///< iterations the printed code may hold one after the other; above 1 with Shape::scalar
  /// Of a loop over positions inside of a lanes loop: what is loaded at `let k = coordinates[variable]` is
  /// asked for so many positions before, where its array is large; 0: it is not.
  int ahead = 0;
};
/// One of the sorted lists a Merge walks: `position` runs over [begin, end) of array `coordinates`. Where
/// lists may lack a coordinate, the index `present` is 1 when this one holds it; else it is 0 and `position`
/// is no place to load from. A list may hold a coordinate several times when it has a name `until`: the end
/// of the stretch of entries with the coordinate, which begins at `position`. Without an array the list
/// holds [begin, end): positions are coordinates.
struct Cursor {
  std::string position;
  std::string coordinates;
  ExpressionPtr begin, end;
  std::string present{};
  std::string until{};
};
enum class MergeKind {
  all,  ///< every coordinate that all the lists hold
  any,  ///< every coordinate that at least one list holds
};
/// Coordinates [begin, end).
struct Range {
  ExpressionPtr begin, end;
};
/// Coordinates, ascending: binds `variable` to each and, of each cursor, `position`, `present` and `until`.
/// With `over` every coordinate of that range, whoever holds it; no list then has a coordinate below
/// over.begin.
struct Merge {
  std::string variable;
  std::vector<Cursor> cursors;
  StatementPtr body;
  MergeKind kind = MergeKind::all;
  std::optional<Range> over{};
};
/// `count` elements of an array, from `begin` on, become `value`.
struct Fill {
  std::string array;
  ExpressionPtr begin, count, value;
};
/// The element, a value, will be loaded soon: memory may be asked for it. `index` may lie past the array's
/// end.
struct Ask {
  std::string array;
  ExpressionPtr index;
};
/// Sorts array[begin, end), indices, ascending; in place.
struct Sort {
  std::string array;
  ExpressionPtr begin, end;
};
/// The phase ends: a hash table of the workspace is too full. Whoever runs the kernel gives the thread a
/// larger workspace and runs the range again.
struct GiveUp {};

struct Statement {
  std::variant<Block, Let, Accumulator, Accumulate, Store, If, Counter, SetCounter, For, Merge, Fill, Ask,
               Sort, Mark, MarkGroups, Collect, Expand, Compress, AddAlike, GroupStore, Pending, Defer,
               Settle, GiveUp>
      node;
};

ExpressionPtr integer(std::int64_t value);
ExpressionPtr number(double value);
ExpressionPtr name(std::string text);
ExpressionPtr load(std::string array, ExpressionPtr index);
/// As written, nothing folded.
ExpressionPtr apply(operators::Function function, std::vector<ExpressionPtr> arguments);
/// Folds integers and x + 0 of indices.
ExpressionPtr add(ExpressionPtr left, ExpressionPtr right);
/// As written.
ExpressionPtr subtract(ExpressionPtr left, ExpressionPtr right);
/// Folds integers and x * 1 of indices.
ExpressionPtr multiply(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr minimum(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr choose(ExpressionPtr condition, ExpressionPtr then, ExpressionPtr otherwise);
ExpressionPtr search(std::string array, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr key,
                     Layout layout = Layout::ascending);
/// The arguments of a use of `function`, or null.
const std::vector<ExpressionPtr>* arguments_of(const ExpressionPtr& expression, operators::Function function);

/// Whether the function may be one of indices (Apply).
bool takes_indices(operators::Function function);

/// How many bytes it takes to mark places of [0, extent).
ExpressionPtr mark_bytes(const ExpressionPtr& extent);
/// How many elements the list has that they are collected in: one for each place, for each
/// group while collecting, and for the first marks, in which a place may come several times.
ExpressionPtr list_elements(const ExpressionPtr& extent);

/// A block of several statements, one statement stays itself; and back.
StatementPtr block(std::vector<StatementPtr> statements);
std::vector<StatementPtr> statements_of(const StatementPtr& statement);
template <class Node>
StatementPtr make(Node node) {
  return std::make_shared<const Statement>(Statement{std::move(node)});
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b);
bool equal(const StatementPtr& a, const StatementPtr& b);
bool is_name(const ExpressionPtr& expression, const std::string& name);  ///< that name
/// The node, when the statement is one of that kind, or null.
template <class Node>
const Node* as(const StatementPtr& statement) {
  return std::get_if<Node>(&statement->node);
}
/// For std::visit over the closed sets above, without a default branch.
template <class... F>
struct Match : F... {
  using F::operator()...;
};
template <class... F>
Match(F...) -> Match<F...>;

}  // namespace schaas::loop_ir

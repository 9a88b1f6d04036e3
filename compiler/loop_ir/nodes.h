#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Loop IR: loops, names, loads, stores, buffers. Knows nothing of tensors' formats: what is left of them are
/// arrays of positions, coordinates and values. Its text form and semantics are in README.md; printer.h,
/// parser.h, verifier.h.
namespace schaas::loop_ir {

enum class Type { index, value };  ///< a 64-bit integer; a number of the kernel's value type
enum class ValueType { f64, f32 };

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Integer {
  std::int64_t value = 0;
};
/// An extent, a kernel-wide or local `let`, an accumulator, a loop variable, or `begin` / `end` of the
/// phase's range.
struct Name {
  std::string name;
};
struct Load {
  std::string array;
  ExpressionPtr index;
};
struct Add {
  ExpressionPtr left, right;
};
struct Multiply {
  ExpressionPtr left, right;
};
/// The smaller of two indices.
struct Minimum {
  ExpressionPtr left, right;
};
/// The first position p of [begin, end) with array[p] >= key, else `end`; array is ascending there.
struct Search {
  std::string array;
  ExpressionPtr begin, end, key;
};
/// The value 0.
struct Zero {};

struct Expression {
  std::variant<Integer, Name, Load, Add, Multiply, Minimum, Search, Zero> node;
};

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
/// var name: a value that starts at 0 and only grows by Accumulate.
struct Accumulator {
  std::string name;
};
struct Accumulate {
  std::string name;
  ExpressionPtr value;
};
enum class Write { set, add };
struct Store {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::add;
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
};
/// One of the sorted lists a Merge walks: `position` runs over [begin, end) of array `coordinates`.
struct Cursor {
  std::string position;
  std::string coordinates;
  ExpressionPtr begin, end;
};
/// For every coordinate that all the cursors' lists hold, ascending: binds `variable` to it and each
/// `position`.
struct Merge {
  std::string variable;
  std::vector<Cursor> cursors;
  StatementPtr body;
};
/// The first `count` elements of a value array become 0.
struct Clear {
  std::string array;
  ExpressionPtr count;
};

struct Statement {
  std::variant<Block, Let, Accumulator, Accumulate, Store, For, Merge, Clear> node;
};

/// Size of one mode of an argument; `required` when the kernel was made for that one size.
struct Extent {
  std::string name;
  int argument = 0;
  int mode = 0;
  std::optional<std::int64_t> required;
};

enum class Element { value, index32, index64 };
struct ArgumentValues {
  int argument = 0;
};
struct Positions {
  int argument = 0;
  int level = 0;
};
struct Coordinates {
  int argument = 0;
  int level = 0;
};
/// A buffer that lives across phases; zero before the first. `slot` counts from 0.
struct Shared {
  int slot = 0;
  ExpressionPtr count;
};
/// A buffer private to the thread; zero once before the first call of a thread.
struct Workspace {
  ExpressionPtr count;
};
struct Array {
  std::string name;
  Element element = Element::value;
  std::variant<ArgumentValues, Positions, Coordinates, Shared, Workspace> origin;
  bool written = false;
};

/// A function over [begin, end) of its outermost loop, which runs over [0, range).
struct Phase {
  ExpressionPtr range;
  bool parallel = false;  ///< disjoint ranges write disjoint places
  int balance_argument =
      -1;  ///< the argument whose level balance_level holds the positions that weigh iterations, or -1
  int balance_level = -1;
  StatementPtr body;
};

struct Kernel {
  ValueType value_type = ValueType::f64;
  int arguments = 0;
  std::vector<Extent> extents;
  std::vector<Let> lets;  ///< index values made of extents and earlier lets; seen everywhere
  std::vector<Array> arrays;
  std::vector<Phase> phases;
};

ExpressionPtr integer(std::int64_t value);
ExpressionPtr name(std::string text);
ExpressionPtr load(std::string array, ExpressionPtr index);
/// Folds integers and x + 0.
ExpressionPtr add(ExpressionPtr left, ExpressionPtr right);
/// Folds integers and x * 1.
ExpressionPtr multiply(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr minimum(ExpressionPtr left, ExpressionPtr right);
ExpressionPtr search(std::string array, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr key);
ExpressionPtr zero();

/// A block of several statements; one statement stays itself.
StatementPtr block(std::vector<StatementPtr> statements);
template <class Node>
StatementPtr make(Node node) {
  return std::make_shared<const Statement>(Statement{std::move(node)});
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b);
bool equal(const StatementPtr& a, const StatementPtr& b);

/// For std::visit over the closed sets above, without a default branch.
template <class... F>
struct Match : F... {
  using F::operator()...;
};
template <class... F>
Match(F...) -> Match<F...>;

}  // namespace schaas::loop_ir

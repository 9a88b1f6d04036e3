#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/loop_ir/nodes.h"

/// What stands around the statements of a kernel: its arguments, arrays and phases (proto/kernel_abi.h).
namespace schaas::loop_ir {

enum class ValueType { f64, f32 };

/// Size of one mode of an argument; `required` when the kernel was made for that one size.
struct Extent {
  std::string name;
  int argument = 0;
  int mode = 0;
  std::optional<std::int64_t> required;
};

/// Bytes hold flags: indices of 0 to 255.
enum class Element { value, index32, index64, byte };
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
/// The coordinates that a compressed level of an argument holds, ascending, each once.
struct Met {
  int argument = 0;
  int level = 0;
};
/// A buffer that lives across phases; zero before the first. `slot` counts from 0.
struct Shared {
  int slot = 0;
  ExpressionPtr count;
  bool stored = false;  ///< not zero before the first phase: whatever is read was stored by a phase before
  std::optional<Met> met{};  ///< index64: made by the client, which may have less than `count` of them
};
/// A buffer private to the thread; zero once before the first call of a thread.
struct Workspace {
  ExpressionPtr count;
};
/// What a part of an iteration folds into (Cut); at the monoid's identity before.
struct Carry {
  ExpressionPtr count;
};
struct Array {
  std::string name;
  Element element = Element::value;
  std::variant<ArgumentValues, Positions, Coordinates, Shared, Workspace, Carry> origin;
  bool written = false;
};

/// What a phase is for: the client scans the counters and allocates the result between counting and
/// computing.
enum class Step { compute, count };
/// Of a phase whose iterations write the same elements of one array (proto/kernel_abi.h): what folds there.
/// Ranges that run at the same time fold into arrays of their own, which are folded afterwards.
struct Fold {
  std::string array;  ///< the result's values, or shared
  operators::Monoid monoid = operators::Monoid::sum;
  std::vector<ExpressionPtr> work;  ///< factors of the number of innermost iterations, about
};
/// How an iteration of a phase is cut at positions of its balance level (proto/kernel_abi.h).
struct Cut {
  /// For the one iteration `begin` and its positions [first, last); `end` is begin + 1.
  StatementPtr part;
  operators::Monoid monoid = operators::Monoid::sum;
  std::string carry;  ///< the array that `part` writes; "": what the phase writes
  StatementPtr
      combine;  ///< takes what the parts of iteration `begin` folded to its place; null without a carry
};
/// Sizes that extents of a phase often have, all the same: the printed code has a version for each, in which
/// they are constants, besides the one for all sizes.
struct Versions {
  std::vector<std::string> extents;
  std::vector<std::int64_t> sizes;  ///< ascending
};
/// Of a phase for a GPU: how its range is shared out among threads (docs/gpu.md). Its body knows the thread's
/// share as `begin`, `end`, `lane`, below `share`, and `column_begin`, `column_end` of [0, columns).
/// Neighbouring threads differ in `lane` first, then in which of `tile` shares of the range they have, then
/// in the columns. The body is not run for an empty share but by phases that settle what is pending.
struct Units {
  int take = 1;   ///< iterations of a thread
  int share = 1;  ///< threads that have the same iterations
  int width = 1;  ///< threads of a group
  int tile = 1;
  int block = 256;          ///< threads of a block
  ExpressionPtr columns{};  ///< null: there are none
  int columns_take = 1;     ///< columns of a thread
  bool operator==(const Units&) const = default;
};
/// A function over [begin, end) of its outermost loop, which runs over [0, range).
struct Phase {
  ExpressionPtr range;
  std::string over{};     ///< a shared array of what is met: the range is how many these are, `range` at most
  bool parallel = false;  ///< disjoint ranges write disjoint places, or fold
  int balance_argument =
      -1;  ///< the argument whose level balance_level holds the positions that weigh iterations, or -1
  int balance_level = -1;
  StatementPtr body;
  StatementPtr values{};  ///< instead of body where the result has its structure, and keeps it; or null
  Step step = Step::compute;
  std::optional<Fold> fold{};
  std::optional<Cut> cut{};
  std::optional<Versions> versions{};
  std::optional<Units> units{};  ///< all phases of a kernel have them, or none
};

/// The shared array, of index64, in which counting phases count the entries of a compressed level of the
/// result.
struct EntryCounter {
  int level = 0;
  int slot = 0;
};
/// An argument that the client makes of another one: the same tensor and level formats, modes in this order.
struct ArgumentCopy {
  int of = 0;
  std::vector<int> mode_order;
};
struct Kernel {
  bool for_gpu() const { return !phases.empty() && phases.front().units.has_value(); }

  ValueType value_type = ValueType::f64;
  int arguments = 0;                 ///< copies included
  std::vector<ArgumentCopy> copies;  ///< the last arguments, in order
  std::vector<Extent> extents;
  std::vector<Let> lets;  ///< index values made of extents and earlier lets; seen everywhere
  std::vector<Array> arrays;
  std::vector<Phase> phases;
  int result_entries_of = -1;          ///< the argument whose levels the result has; -1: it has its own
  double result_fill = 0;              ///< what the result holds where nothing is stored
  bool writes_all = false;             ///< every value of the result is stored, none read before that
  bool appends = false;                ///< counting may be left out (proto/kernel_abi.h)
  std::vector<EntryCounter> counters;  ///< one for each compressed level of the result, in level order
};

}  // namespace schaas::loop_ir

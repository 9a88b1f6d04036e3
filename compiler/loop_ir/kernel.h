#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/operators/value_type.h"

/// Declarations around the statements of a kernel: arguments, arrays and phases (proto/kernel_abi.h).
namespace schaas::loop_ir {

using operators::ValueType;

/// Size of one mode of an argument; `required` when the kernel was made for that size only.
struct Extent {
  std::string name;
  int argument = 0;
  int mode = 0;
  std::optional<std::int64_t> required{};
  bool sparse = false;                               ///< extent also of a sparse level, or of one above it
  std::optional<std::int64_t> minimum{}, maximum{};  ///< range that constraints leave
};

/// Bytes hold flags: indices of 0 to 255.
enum class Element { value, index32, index64, byte };
struct ArgumentValues {
  int argument = 0;
  std::optional<ValueType> stored{};  ///< narrower type in which an operand is stored: loads widen
};
struct Positions {
  int argument = 0;
  int level = 0;
};
struct Coordinates {
  int argument = 0;
  int level = 0;
};
/// Stored coordinates of a compressed level of an argument, ascending, each once.
struct ReferencedCoordinates {
  int argument = 0;
  int level = 0;
};
/// A buffer that lives across phases; zero before the first one. `slot` counts from 0.
struct Shared {
  int slot = 0;
  ExpressionPtr count;
  bool stored = false;  ///< starts undefined: phases store whatever of it they read
  std::optional<ReferencedCoordinates>
      referenced{};  ///< index64: made by the client, which may have fewer than `count`
};
/// A thread-private buffer; zeroed once before the first call of a thread.
struct Scratch {
  ExpressionPtr count;
};
/// Partial result of a split iteration (RowSplit); starts at the monoid's identity.
struct CarryOut {
  ExpressionPtr count;
};
/// Memory of a block of a GPU's threads: `count` elements for each of the groups that stage entries together
/// (ThreadMapping::stage). Only Stage writes it.
struct Staged {
  int count = 0;
};
struct Array {
  std::string name;
  Element element = Element::value;
  std::variant<ArgumentValues, Positions, Coordinates, Shared, Scratch, CarryOut, Staged> origin;
  bool written = false;
};

/// Purpose of a phase: the client scans the counters and allocates the result between symbolic and computing
/// phases.
enum class Step { compute, symbolic };
/// Privatised reduction of a phase whose iterations write the same elements of one array
/// (proto/kernel_abi.h). Ranges that run at the same time fold into private arrays, which are folded
/// afterwards.
struct Fold {
  std::string array;  ///< the result's values, or a shared array
  operators::Monoid monoid = operators::Monoid::sum;
  std::vector<ExpressionPtr> work;  ///< factors of the approximate number of innermost iterations
};
/// Row splitting: an iteration of a phase is split at positions of its balance level (proto/kernel_abi.h).
struct RowSplit {
  /// Computes positions [first, last) of the iteration `begin`; `end` is begin + 1.
  StatementPtr partial;
  operators::Monoid monoid = operators::Monoid::sum;
  std::string carry_out;  ///< the array that `partial` writes; "": that of the phase
  StatementPtr
      fix_up;  ///< folds the carry-out values of iteration `begin` into the target; null without carry-out
};
/// Sizes for which the printed code has specialised versions: all `extents` have the same size there, a
/// constant. Other sizes have versions by the vector registers that they fill, all extents as many: the n-th
/// from the bound before, or 0, to below registers[n] of them. Where a phase has a numeric body, that alone
/// has versions by registers. Where all extents and all `singles` are 1, one version has all these constants:
/// dense loops run once there.
struct Specialisation {
  std::vector<std::string> extents;
  std::vector<std::int64_t> sizes;  ///< ascending
  std::vector<int> registers{};     ///< ascending; each step is a power of two that divides the bound before
  std::vector<std::string> singles{};  ///< ends of further loops
};
/// Mapping of a phase's range to threads of a GPU (docs/gpu.md). The body knows the thread's iterations as
/// `begin`, `end`, its `lane`, below threads_per_item, and its columns as `column_begin`, `column_end` of [0,
/// columns). Adjacent threads differ first in `lane`, then in `lane_group`, then in which of `tile` ranges
/// they have, then in columns. The body runs for an empty range only in phases that flush deferred updates.
struct ThreadMapping {
  int grain = 1;             ///< iterations of a thread
  int threads_per_item = 1;  ///< threads that share the same iterations
  int group_size = 1;        ///< threads of a group
  int tile = 1;
  int block = 256;          ///< threads of a block
  ExpressionPtr columns{};  ///< null: no columns
  int columns_grain = 1;    ///< columns of a thread
  /// Above 0: so many adjacent threads have the same range and adjacent columns, and stage entries together.
  /// The body knows as `staged` that each of them has `columns_grain` columns: 1, else 0.
  int stage = 0;
  /// Above 1: so many times threads_per_item threads have the same iterations. The body knows as `lane_group`
  /// which of these groups the thread is in.
  int groups = 1;
  /// Positions of a level below `rows` rows; "": none. The range counts its entries. Threads have `grain`
  /// rows and entries together, and [begin, end) are the entries among these.
  std::string merged_positions{};
  ExpressionPtr rows{};
  bool operator==(const ThreadMapping&) const = default;
};
/// Alignment that a phase for a GPU asks of its tensors at each launch. Its body knows the answer as
/// `aligned`: 1 where all `extents` are multiples of `width` and all `arrays` begin at a multiple of `width`
/// values, else 0.
struct Alignment {
  int width = 1;
  std::vector<std::string> extents, arrays;
};
/// By how many threads a result may be appended without symbolic phases. Numbers of proto/kernel_abi.h.
enum class Appends { never = 0, always = 1, alone = 2 };
/// A function over [begin, end) of its outermost loop, which runs over [0, range).
struct Phase {
  ExpressionPtr range;
  std::string
      over{};  ///< a shared array of referenced coordinates: the range is their number, at most `range`
  bool parallel = false;  ///< disjoint ranges write disjoint elements, or reduce
  int balance_argument =
      -1;  ///< the argument whose level balance_level holds the positions that weigh iterations, or -1
  int balance_level = -1;
  StatementPtr body;
  StatementPtr numeric{};  ///< body for a result whose structure exists and is kept; or null
  Step step = Step::compute;
  std::optional<Fold> fold{};
  std::optional<RowSplit> row_split{};
  std::optional<Specialisation> specialised{};
  std::optional<Alignment> alignment{};    ///< with a mapping only
  std::optional<ThreadMapping> mapping{};  ///< all phases of a kernel have them, or none
};

/// The shared array, of index64, in which symbolic phases count the entries of a compressed level of the
/// result.
struct EntryCounter {
  int level = 0;
  int slot = 0;
};
/// An argument that the client makes of another one by re-layout: the same tensor with its modes in this
/// order (format::copy_format).
struct ArgumentCopy {
  int of = 0;
  std::vector<int> mode_order;
  bool locates = false;  ///< with a dense first level
};
struct Kernel {
  bool for_gpu() const { return !phases.empty() && phases.front().mapping.has_value(); }

  ValueType value_type = ValueType::f64;  ///< type of the arithmetic
  int arguments = 0;                      ///< copies included
  std::vector<ArgumentCopy> copies;       ///< the last arguments, in order
  std::vector<Extent> extents;
  std::vector<Let> lets;  ///< index values made of extents and earlier lets; visible everywhere
  std::vector<Array> arrays;
  std::vector<Phase> phases;
  int result_entries_of = -1;          ///< the argument whose levels the result has; -1: it has its own
  double result_fill = 0;              ///< value of unstored elements of the result
  bool writes_all = false;             ///< every value of the result is stored, none read before that
  Appends appends = Appends::never;    ///< symbolic phases may be left out (proto/kernel_abi.h)
  std::vector<EntryCounter> counters;  ///< one for each compressed level of the result, in level order
};

}  // namespace schaas::loop_ir

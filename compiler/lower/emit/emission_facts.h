#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/iteration_space.h"
#include "compiler/lower/analysis/nest.h"

/// Facts that emission keeps of the phase at hand.
namespace schaas::lower {

/// Ways in which threads of a GPU write the values they compute.
enum class ThreadWrites {
  alone,     ///< each for itself
  grouped,   ///< GroupStore
  deferred,  ///< Defer
};

/// Destination of the value that a statement computes.
struct Sink {
  enum class Kind {
    array,       ///< stored at the position of the target operand with `mode`
    accumulate,  ///< folded into the accumulator `name`
    define,      ///< `name` is declared with it
  } kind = Kind::array;
  int operand = -1;
  loop_ir::Write mode = loop_ir::Write::fold;
  std::string name;
  operators::Monoid monoid = operators::Monoid::sum;
};

/// Sparse accumulator (SPA) of a temporary: a flag for each element of its first levels; or, for one level
/// private to the thread, an occupancy bitmap and the list of occupied coordinates compacted from it.
struct SparseAccumulator {
  std::string flags;
  std::string list;                 ///< "": none, the flags are tested one by one
  std::string count;                ///< length of the list
  loop_ir::ExpressionPtr extent{};  ///< extent of the bitmap
  int writer = -1;                  ///< operand whose elements are reset to 0 after they were read; -1: none
  const Loop* reader = nullptr;     ///< loop that reads each of them once, or null
  std::string epoch{};  ///< only counted: the epoch that `flags` holds for elements written in this iteration
  /// A hash table: keys (coordinate + 1; 0 marks a free slot) and the occupied slots.
  std::string keys{};
  std::string taken{};

  /// The bitmap that the list is compacted from.
  loop_ir::Occupancy occupancy() const { return {flags, list, count, extent}; }
};

/// Entries of a range of positions (LoopAnnotation::positions): the positions that contain them, by level.
struct EntryRanges {
  int operand = -1;
  std::vector<loop_ir::Range> levels{};
};

/// Clearing of the rows of a dense result by the phase that adds to them: they are in the cache then.
struct ClearedRows {
  int target = -1;
  const Loop* rows = nullptr;
  bool own = false;  ///< clears each row it visits, since it adds to it; else it stores all of it
  /// Each of these blocks adds to the whole row; a row with a single block is stored instead.
  const Blocks* blocks = nullptr;
  std::optional<merge_lattice::LevelAccess>
      walked;       ///< level whose coordinates are the visited rows; nothing: all rows are visited
  int factor = -1;  ///< operand whose empty rows give rows of zeros, which are cleared; or -1
};

}  // namespace schaas::lower

#pragma once
#include <string>

#include "compiler/lower/emit/facts/emission_facts.h"
#include "compiler/lower/emit/levels/scope.h"

namespace schaas::lower {

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

/// Emits the start values of the elements of operand `target` at one index of the occupancy levels.
void emit_start_values(int target, const loop_ir::ExpressionPtr& slot, const EmissionFacts& facts,
                       Statements& out);

}  // namespace schaas::lower

#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/nest.h"
#include "compiler/support/result.h"

/// Phases for a GPU: which of their loops is shared out how among threads (concrete_notation/units.h).
namespace schaas::lower {

/// The loops of a phase that threads share; of one that says nothing about it the outermost one, an
/// iteration for each thread.
struct SharedLoops {
  const Loop* columns = nullptr;  ///< around the rows; null: there are none
  const Loop* rows = nullptr;     ///< what the phase's range counts; null: the phase has no loop
  const Loop* inside = nullptr;  ///< walked in turns by the threads that share an iteration; null: one has it
  concrete_notation::Units units{};
  int columns_take = 1;
};
SharedLoops shared_loops(const NestPtr& phase);
/// Some phase of the tree has units.
bool is_for_gpu(const NestTree& tree);
/// Of loop IR, but for the number of columns.
loop_ir::Units units_of(const SharedLoops& loops);

/// A sparse result that has the entries of a factor of the product it gets (entries_of_target) stands where
/// that does; the argument, or -1: the result is dense.
int keep_result_by_entries(NestTree& tree);

/// Errors: unsupported [gpu-loop]: a loop that threads would share walks no single list, or a temporary is
/// one of which it is remembered what was written.
support::Result<void> check_shared_loops(const NestTree& tree);

}  // namespace schaas::lower

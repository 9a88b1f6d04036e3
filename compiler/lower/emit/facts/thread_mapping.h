#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/support/result.h"

/// Thread mapping of the phases of a GPU kernel (concrete_notation/thread_mapping.h).
namespace schaas::lower {

/// Loops of a phase that are mapped to threads; without an annotation the outermost one, one iteration per
/// thread.
struct MappedLoops {
  const Loop* columns = nullptr;  ///< around the rows; null: there are none
  const Loop* rows = nullptr;     ///< counted by the phase's range; null: the phase has no loop
  const Loop* inside =
      nullptr;  ///< interleaved among the threads that share an iteration; null: one thread has it
  /// Around a branch: the consumer's loop, interleaved as well, and `inside` is the producer's, whose sum all
  /// threads get; else null.
  const Loop* consumer = nullptr;
  /// Around `inside`: a loop over elements of the target, interleaved among the groups of an iteration's
  /// threads; null: there is none.
  const Loop* elements = nullptr;
  int groups = 1;  ///< groups of an iteration, each of mapping.threads_per_item threads
  concrete_notation::ThreadMapping mapping{};
  int columns_grain = 1;
};
MappedLoops mapped_loops(const NestPtr& phase, const NestTree& tree);
/// The loop is interleaved among the threads that share an iteration.
inline bool is_interleaved(const Loop& loop, const MappedLoops& mapped) {
  return &loop == mapped.inside || &loop == mapped.consumer || &loop == mapped.elements;
}
/// Some phase of the tree is mapped to threads of a GPU.
bool is_for_gpu(const NestTree& tree);
/// Returns the mapping for loop IR, without the number of columns.
loop_ir::ThreadMapping mapping_of(const MappedLoops& loops);

/// Stores a sparse result at the entries of a factor of its product (entries_of_target). Returns the
/// argument, or -1 when the result is dense.
int keep_result_by_entries(NestTree& tree);

/// Errors: unsupported [gpu-loop]: a loop shared by threads does not walk a single list, or a temporary has
/// occupancy.
support::Result<void> check_mapped_loops(const NestTree& tree);

}  // namespace schaas::lower

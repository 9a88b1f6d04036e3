#pragma once
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Loops whose iterations are mapped to threads of a GPU (LoopAnnotation::mapping; docs/gpu.md).
namespace schaas::concrete_notation {

/// Loops of a phase that define the data of a thread, from the phase's outermost loop inwards.
struct MappedLoops {
  const Forall* columns = nullptr;  ///< the outermost loop when rows are another; else null
  const Forall* rows = nullptr;     ///< iterations, or positions of a sparse operand
  ThreadMapping mapping;            ///< the rows' mapping; threads_per_item of either loop
  int columns_grain = 1;
  /// The loop directly inside the rows, shared by the threads of an iteration; else null.
  const Forall* inside = nullptr;
  /// The first branch below the rows, where their threads share its two nests instead (`inside` is null);
  /// else null.
  const Where* branch = nullptr;
};
/// Returns the loops of the phase with this outermost loop. Without annotations a thread has one iteration.
MappedLoops mapped_loops(const Forall& outermost);
/// The loop that several threads share is one over elements of the target. Each of its iterations is one
/// thread's, and nothing is reduced (the entries of a row in SDDMM), or one group's, which reduces its sum.
bool distributes_elements(const MappedLoops& loops);
/// Some loop of the tree is mapped to threads of a GPU.
bool has_thread_mapping(const StatementPtr& statement);

/// Returns the factor of a product that has the indices and the storage of its sparse target; nothing
/// otherwise. The target then has an entry for each entry of the factor, and a GPU need not append (SDDMM).
std::optional<index_notation::Access> entries_of_target(const Assign& leaf, const problem::Problem& problem);

/// Checks that a GPU can run the mapping of one phase, legally by the rules of Sgap (section 3.3). Errors:
/// invalid [illegal-tree].
support::Result<void> check_thread_mapping(const Forall& outermost, const problem::Problem& problem);

/// Each element that the phase writes has a single writer: one thread or a group's first.
bool writes_exclusively(const Forall& outermost);
/// Returns the number of iterations whose threads are adjacent in a warp before the columns change: `tile`,
/// or as many as a group needs.
int adjacent_iterations(const ThreadMapping& mapping);

/// Rounding depends on the order of atomic writes of several threads to one element, in sums or products.
/// Such points are left out when answers must be reproducible.
bool is_nondeterministic(const StatementPtr& statement);

}  // namespace schaas::concrete_notation

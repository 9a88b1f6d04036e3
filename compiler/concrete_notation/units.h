#pragma once
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Loops whose iterations are shared out among the threads of a GPU (Manner::units; docs/gpu.md).
namespace schaas::concrete_notation {

/// The loops of a phase that say what one thread gets, from the phase's outermost loop inwards.
struct UnitLoops {
  const Forall* columns = nullptr;  ///< the outermost one, when the rows are another; else null
  const Forall* rows = nullptr;     ///< iterations, or positions of a sparse operand
  Units units;                      ///< of the rows; `share` of whichever has one
  int columns_take = 1;
  /// The loop directly inside the rows, which is shared where several threads have one iteration; else null.
  const Forall* inside = nullptr;
};
/// `outermost`: of a phase. Without units in any of its loops a thread takes one iteration.
UnitLoops unit_loops(const Forall& outermost);
/// Some loop of the tree has units: it is a tree for a GPU.
bool has_units(const StatementPtr& statement);

/// The factor of a product that is stored like its sparse target and has its indices, so that the target has
/// an entry for each entry of it and a GPU need not append (a sampled product: SDDMM); nothing otherwise.
std::optional<index_notation::Access> entries_of_target(const Assign& leaf, const problem::Problem& problem);

/// The loops of one phase have units that a GPU can run and that are legal by the rules of Sgap (section
/// 3.3). Errors: invalid [illegal-tree].
support::Result<void> check_units(const Forall& outermost, const problem::Problem& problem);

/// Each element that the phase writes has one thread that writes it, or one group's first.
bool has_one_writer(const Forall& outermost);
/// Iterations whose threads lie side by side in a warp before the columns change: `tile`, or as many as a
/// group needs.
int side_by_side(const Units& units);

/// Rounding depends on the order in which threads happen to write: sums or products with atomic writes of
/// several threads to one element. Such points are left out when an answer must be the same each time.
bool order_is_chance(const StatementPtr& statement);

}  // namespace schaas::concrete_notation

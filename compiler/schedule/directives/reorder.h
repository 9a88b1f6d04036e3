#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Reorders the loops of the linear section at `path` (SparseAuto section 4.4). `apply` verifies the tree,
/// and with it access orders. docs/schedules.md. Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_reorder(const concrete_notation::StatementPtr& tree,
                                                               const Reorder& directive);

}  // namespace schaas::schedule

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// The loops of the linear section at `path` in a new order (SparseAuto section 4.4). Access order is checked
/// by `apply`, which verifies the tree. docs/schedules.md. Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_reorder(const concrete_notation::StatementPtr& tree,
                                                               const Reorder& directive);

}  // namespace schaas::schedule

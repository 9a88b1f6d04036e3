#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Errors: invalid [illegal-directive]: the tree has no loop over the index; an extent below 1.
support::Result<concrete_notation::StatementPtr> apply_bound(const concrete_notation::StatementPtr& tree,
                                                             const Bound& directive);

}  // namespace schaas::schedule

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Reorders the nests of the tree, sharing no loops. docs/schedules.md. Errors: invalid [illegal-directive]:
/// no permutation of the nests, or one that reads a temporary before it is computed.
support::Result<concrete_notation::StatementPtr> apply_sequence(const concrete_notation::StatementPtr& tree,
                                                                const Sequence& directive);

}  // namespace schaas::schedule

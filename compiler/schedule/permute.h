#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// The factors of the linear section at `path` in a new order; no loop changes. docs/schedules.md.
/// Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_permute(const concrete_notation::StatementPtr& tree,
                                                               const Permute& directive);

}  // namespace schaas::schedule

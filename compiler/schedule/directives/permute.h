#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Reorders the factors of the linear section at `path`; no loop changes. docs/schedules.md. Errors: invalid
/// [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_permute(const concrete_notation::StatementPtr& tree,
                                                               const Permute& directive);

}  // namespace schaas::schedule

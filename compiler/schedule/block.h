#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Runs the innermost loop that the branch at `path` has in common `size` values at a time: both sides get a
/// loop of their own over the values of a block, and the temporary passed between them the loop's index.
/// docs/schedules.md. Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_block(const concrete_notation::StatementPtr& tree,
                                                             const Block& directive);

}  // namespace schaas::schedule

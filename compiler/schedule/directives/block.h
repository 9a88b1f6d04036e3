#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Runs the innermost loop shared by the branch at `path` in blocks of `size` values. Both sides get a loop
/// over the values of a block, and the temporary between them gets the loop's index. docs/schedules.md.
/// Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_block(const concrete_notation::StatementPtr& tree,
                                                             const Block& directive);

}  // namespace schaas::schedule

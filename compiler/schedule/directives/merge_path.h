#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Lets threads take rows and entries together. Errors: invalid [illegal-directive]: a loop that `threads` has
/// not mapped.
support::Result<concrete_notation::StatementPtr> apply_merge_path(const concrete_notation::StatementPtr& tree,
                                                             const MergePath& directive);

}  // namespace schaas::schedule

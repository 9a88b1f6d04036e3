#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Sets the reduction among threads of a GPU. Errors: invalid [illegal-directive]: a loop that `threads` has
/// not mapped.
support::Result<concrete_notation::StatementPtr> apply_group(const concrete_notation::StatementPtr& tree,
                                                             const Group& directive);

}  // namespace schaas::schedule

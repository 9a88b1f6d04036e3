#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Sets the threads of a block, and which of them are adjacent. Errors: invalid [illegal-directive]: a loop
/// that `threads` has not mapped.
support::Result<concrete_notation::StatementPtr> apply_launch(const concrete_notation::StatementPtr& tree,
                                                              const Launch& directive);

}  // namespace schaas::schedule

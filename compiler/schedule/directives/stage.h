#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Sets the threads that stage the entries of a row together. Errors: invalid [illegal-directive]: a loop
/// that `threads` has not mapped.
support::Result<concrete_notation::StatementPtr> apply_stage(const concrete_notation::StatementPtr& tree,
                                                             const Stage& directive);

}  // namespace schaas::schedule

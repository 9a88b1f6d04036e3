#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// What a thread of a GPU gets of a loop. Errors: invalid [illegal-directive]: nothing, a loop that is not
/// there.
support::Result<concrete_notation::StatementPtr> apply_threads(const concrete_notation::StatementPtr& tree,
                                                               const Threads& directive);

}  // namespace schaas::schedule

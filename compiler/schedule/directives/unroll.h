#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Errors: invalid [illegal-directive]: the section has no such loop, or a factor below 2.
support::Result<concrete_notation::StatementPtr> apply_unroll(const concrete_notation::StatementPtr& tree,
                                                              const Unroll& directive);

}  // namespace schaas::schedule

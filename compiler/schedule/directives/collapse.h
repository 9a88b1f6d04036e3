#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Errors: invalid [illegal-directive]: the section has no such loop.
support::Result<concrete_notation::StatementPtr> apply_collapse(const concrete_notation::StatementPtr& tree,
                                                                const Collapse& directive);

}  // namespace schaas::schedule

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Errors: invalid [illegal-directive]: the errors of split; fewer than 2 parts.
support::Result<concrete_notation::StatementPtr> apply_divide(const concrete_notation::StatementPtr& tree,
                                                              const Divide& directive);

}  // namespace schaas::schedule

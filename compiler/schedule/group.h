#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// How threads of a GPU bring together what they compute. Errors: invalid [illegal-directive]: a loop that
/// `threads` has not shared out.
support::Result<concrete_notation::StatementPtr> apply_group(const concrete_notation::StatementPtr& tree,
                                                             const Group& directive);

}  // namespace schaas::schedule

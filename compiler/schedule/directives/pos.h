#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Turns the section's loops down to the named one into one loop over the entries of the operand they walk.
/// Errors: invalid [illegal-directive]: the section has no such loop, or a branch stands between them.
support::Result<concrete_notation::StatementPtr> apply_pos(const concrete_notation::StatementPtr& tree,
                                                           const Pos& directive);

}  // namespace schaas::schedule

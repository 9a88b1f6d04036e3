#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Makes nest `nest` and the next one begin with `loops`, in this order, and run them once for both
/// (trie-like fusion, ReACT section 4.3); without loops the two are separated. Sharing with other nests is
/// kept as far as their loops still agree. docs/schedules.md. Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_share(const concrete_notation::StatementPtr& tree,
                                                             const Share& directive);

}  // namespace schaas::schedule

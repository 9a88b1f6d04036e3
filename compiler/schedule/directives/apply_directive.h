#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/temporary_names.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Applies one directive to the tree of `problem`; temporaries that it makes are named by `names`. Directives
/// about the problem (`store`, `mask`) are errors here, being out of their position. Errors: invalid
/// [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_directive(const Directive& directive,
                                                                 const concrete_notation::StatementPtr& tree,
                                                                 const problem::Problem& problem,
                                                                 TemporaryNames& names);

}  // namespace schaas::schedule

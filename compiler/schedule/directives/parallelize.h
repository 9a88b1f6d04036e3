#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Annotates a parallel loop; the verifier checks its legality (concrete_notation/annotation_checks.h).
/// Errors: invalid [illegal-directive]: the section has no such loop.
support::Result<concrete_notation::StatementPtr> apply_parallelize(
    const concrete_notation::StatementPtr& tree, const Parallelize& directive);

}  // namespace schaas::schedule

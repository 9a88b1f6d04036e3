#pragma once
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::schedule {

/// Sets the storage of the result's workspace. Errors: invalid [illegal-directive]: there is none.
support::Result<concrete_notation::StatementPtr> apply_workspace_storage(
    const concrete_notation::StatementPtr& tree, const WorkspaceStorage& directive,
    const problem::Problem& problem);

}  // namespace schaas::schedule

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Checks that every loop may run as annotated, and that every temporary may have its storage
/// (result_workspace.h). Errors: invalid [illegal-tree] naming the loop and its target.
support::Result<void> check_annotations(const StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

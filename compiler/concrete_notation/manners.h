#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Every loop may run in its manner, and every temporary may be kept as it is (gathered.h). Errors: invalid
/// [illegal-tree] naming the loop and what it writes.
support::Result<void> check_manners(const StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

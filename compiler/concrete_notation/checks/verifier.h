#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Checks that `statement` computes `problem` legally: every index of every access is bound exactly once
/// above it; sparse access order (format::access_order) is respected; a sparse result is written in its level
/// order with reduction loops below its last compressed level; each temporary is produced by one producer and
/// read by the consumer of the same `where`; every operand of the problem is used exactly once. Runs on
/// everything read from disk or the network and after each directive. Errors: invalid [illegal-tree] with the
/// reason.
support::Result<void> verify(const StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

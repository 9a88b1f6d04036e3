#pragma once
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::schedule {

/// The tree with what the result is gathered in kept as the directive says. Errors: invalid
/// [illegal-directive]: nothing is gathered.
support::Result<concrete_notation::StatementPtr> apply_gather(const concrete_notation::StatementPtr& tree,
                                                              const Gather& directive,
                                                              const problem::Problem& problem);

}  // namespace schaas::schedule

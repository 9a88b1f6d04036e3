#pragma once
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Applies `store`: the problem with a re-layout (transposed copy) of an operand, read where the directive
/// says. Errors: invalid [illegal-directive].
support::Result<problem::Problem> apply_store(const problem::Problem& problem, const Store& directive);

}  // namespace schaas::schedule

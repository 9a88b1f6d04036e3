#pragma once
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// The factors of the linear section at `path` in a new order; no loop changes. docs/schedules.md.
/// Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_permute(const concrete_notation::StatementPtr& tree,
                                                               const Permute& directive);

/// The trace that makes of `to` what `trace` makes of `from`: the same contraction, of which factor n stands
/// at `place[n]` in `to`. Its root section's factors and loops are put in the order in which `trace` takes
/// them, where those of the default nest are not. A trace that is empty or stores copies alone stands for the
/// default nest of either. What is illegal of `from` is illegal of `to`.
Trace with_factors_at(const Trace& trace, const problem::Problem& from, const problem::Problem& to,
                      const std::vector<int>& place);

}  // namespace schaas::schedule

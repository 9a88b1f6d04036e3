#pragma once
#include <string>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Splits the product of the linear section at `path` into a producer of the temporary `temporary` and its
/// consumer, and keeps the loops both have at the beginning in common (SparseAuto algorithm 1).
/// docs/schedules.md. The temporary has the indices of the producer that the consumer's other factors or the
/// section's target have too, without the fused loops (the paper's line 5 intersects with the producer's
/// indices in the wrong place). Errors: invalid [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_loopfuse(const concrete_notation::StatementPtr& tree,
                                                                const LoopFuse& directive,
                                                                const std::string& temporary);

}  // namespace schaas::schedule

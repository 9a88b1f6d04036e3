#pragma once
#include <string>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Splits the product of the linear section at `path` into a producer of `temporary` and its consumer. Fuses
/// their common leading loops (SparseAuto algorithm 1). docs/schedules.md. The temporary has the producer's
/// indices that the consumer's other factors or the section's target also have, without the fused loops. Line
/// 5 of the paper's algorithm intersects with the producer's indices at the wrong point. Errors: invalid
/// [illegal-directive].
support::Result<concrete_notation::StatementPtr> apply_loopfuse(const concrete_notation::StatementPtr& tree,
                                                                const LoopFuse& directive,
                                                                const std::string& temporary);

}  // namespace schaas::schedule

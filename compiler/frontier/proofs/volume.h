#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/frontier/proofs/argument.h"
#include "compiler/frontier/proofs/log_bounds.h"

namespace schaas::frontier {

/// Stage 1 as a bound on the volume, proven from the constraints (future work of SparseAuto, section 5.1).
/// Returns the reason why temporaries of these sizes hold more than `most` elements together at every allowed
/// size; none when they may fit.
std::optional<Argument> never_fits(LogBounds& bounds, const std::vector<cost::Term>& temporaries,
                                   std::int64_t most);

}  // namespace schaas::frontier

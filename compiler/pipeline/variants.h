#pragma once
#include <vector>

#include "compiler/concrete_notation/leaf_code.h"
#include "compiler/frontier/frontier.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"

namespace schaas::pipeline {

/// Describes the code of each leaf of a schedule (lower/description.h). Errors: those of schedule::apply and
/// lower::lower.
support::Result<std::vector<concrete_notation::LeafCode>> describe(const problem::Problem& problem,
                                                                   const schedule::Trace& trace);

/// Lists further ways to run each survivor of a frontier of `problem`, and describes the code of all (
/// Survivor::variants). First comes its own trace. Its fused temporaries in blocks follow, then other members
/// of its class. The published profile has no variants. Takes 0.3 ms for each.
void add_variants(frontier::Frontier& frontier, const problem::Problem& problem);

}  // namespace schaas::pipeline

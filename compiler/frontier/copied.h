#pragma once
#include <functional>
#include <vector>

#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// Every trace of the answer after these directives.
void begin_with(const schedule::Trace& first, Frontier& frontier);

/// Returns the trace that makes these copies and nothing else.
schedule::Trace trace_of(const std::vector<problem::CopyRequest>& copies);

/// The frontier of a problem whose schedules may read copies of operands. `without` makes those of the
/// problem with each set of copies, which are joined and pruned against each other. Sets are
/// concrete_notation::copy_sets with SpaceOption::copies, and result_copy_sets for sparse results. Exact:
/// what a set's own frontier leaves out, another schedule with the same copies covers. Errors: those of
/// `without` and of compute.
/// Of a budget, the sets have this part together, and their join the rest.
inline constexpr double part_of_sets = 0.8;
using CopySets = std::vector<std::vector<problem::CopyRequest>>;
using ComputeWithout = std::function<support::Result<Frontier>(const problem::Problem& problem)>;
support::Result<Frontier> compute_copied(const problem::Problem& problem, const CopySets& sets,
                                         const Options& options, const ComputeWithout& without,
                                         const Progress& progress, const support::Cancellation& cancellation);

}  // namespace schaas::frontier

#pragma once
#include <functional>
#include <vector>

#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// Every trace of the answer after these directives.
void begin_with(const schedule::Trace& first, Frontier& frontier);

/// Returns the trace that makes these copies and nothing else.
schedule::Trace trace_of(const std::vector<problem::CopyRequest>& copies);

using CopySets = std::vector<std::vector<problem::CopyRequest>>;
/// A search of one problem with options of its own.
using ComputeOne = std::function<support::Result<Frontier>(const problem::Problem& problem,
                                                           const Options& options, const Progress& progress,
                                                           const support::Cancellation& cancellation)>;

/// The frontier of a problem whose schedules may read copies of operands. `compute_one` makes those of the
/// problem with each set of copies, in its part of the time. They are joined and pruned against each other.
/// Exact: what a set's own frontier leaves out, another schedule with the same copies covers. Errors: those
/// of `compute_one` and of compute.
support::Result<Frontier> compute_sets(const problem::Problem& problem, const CopySets& sets,
                                       const Options& options, const ComputeOne& compute_one,
                                       const Progress& progress, const support::Cancellation& cancellation);

/// The frontier of a contraction, which `compute_one` searches with the copies of a problem and no others.
/// Copies are those that a sparse result needs and those that locate coordinates. Where storage orders go
/// round in a circle, they are those of the default nest. Where every schedule found walks all elements, more
/// are tried (concrete_notation/copies). A part of a search has few sets: it is to come early.
support::Result<Frontier> compute_with_copies(const problem::Problem& problem, const Options& options,
                                              const ComputeOne& compute_one, const Progress& progress,
                                              const support::Cancellation& cancellation);

}  // namespace schaas::frontier

#pragma once
#include <cstddef>
#include <optional>

#include "compiler/problem/problem.h"
#include "compiler/space/listed/listed_members.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

/// Contractions whose result has compressed levels. Every schedule that computes the dense result is one of
/// theirs. Where its loops do not append in order, the result is gathered in a workspace first
/// (schedule/ordered_appends.h), which costs time and memory. docs/schedule_space.md, "Sparse results".
namespace schaas::space {

bool appends(const problem::Problem& problem);

/// The same problem with a dense result, modes in the same order.
problem::Problem with_dense_result(const problem::Problem& problem);

/// Every schedule's cost; of the schedules of one cost up to `traces`, but at least one, one per loop tree,
/// those that come first in the space's order. None when there are more than `most` schedules. Errors:
/// exhausted (cancelled).
support::Result<std::optional<ListedMembers>> appending_members(const problem::Problem& problem,
                                                                std::size_t most, std::size_t traces,
                                                                const support::Cancellation& cancellation);

/// Some schedules, each with the cost of its tree; those that are not legal are left out, and all but one
/// legal one after the end of `budget`.
ListedMembers listed(const std::vector<schedule::Trace>& traces, const problem::Problem& problem,
                     const support::Cancellation& budget);

}  // namespace schaas::space

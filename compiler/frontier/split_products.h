#pragma once
#include <functional>

#include "compiler/frontier/frontier.h"
#include "compiler/space/listed_members.h"

namespace schaas::frontier {

/// The frontier of a contraction.
using ComputeContraction = std::function<support::Result<Frontier>(const problem::Problem&)>;

/// Adds to the listed schedules of a program those in which a sum of a product of three factors or more, in a
/// nest that shares no loops, is split as on the frontier of that product alone: so its workspaces make the
/// nest as cheap as a statement of its own. All traces begin with the same copies and masks, which make
/// `problem` of `asked`. Errors: exhausted (cancelled).
support::Result<void> add_split_products(space::ListedMembers& members, const problem::Problem& asked,
                                         const problem::Problem& problem,
                                         const ComputeContraction& contraction,
                                         const support::Cancellation& cancellation);

}  // namespace schaas::frontier

#pragma once
#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// The search that `compute` makes. Errors: those of compute; exhausted as well where the budget ended before
/// any schedule was found.
support::Result<Frontier> search(const problem::Problem& problem, const Options& options,
                                 const Progress& progress, const support::Cancellation& cancellation);

}  // namespace schaas::frontier

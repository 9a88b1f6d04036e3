#pragma once
#include <functional>

#include "compiler/frontier/frontier.h"
#include "compiler/space/listed/listed_members.h"

namespace schaas::frontier {

using Lister = std::function<support::Result<space::ListedMembers>()>;

/// `compute` for a space whose members are listed one by one (space/program.h, space/appending.h), pruned by
/// the same proofs. Errors: those of compute and of the lister; unsupported [no-schedule].
support::Result<Frontier> compute_listed(const problem::Problem& problem, const Lister& lister,
                                         const Options& options, const Progress& progress,
                                         const support::Cancellation& cancellation);

}  // namespace schaas::frontier

#pragma once
#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// `compute` for what is more than one contraction: all schedules of space::program_members, pruned by the
/// same proofs. Errors: those of compute; unsupported [no-schedule], [program-profile].
support::Result<Frontier> compute_program(const problem::Problem& problem, const Options& options,
                                          const Progress& progress,
                                          const support::Cancellation& cancellation);

}  // namespace schaas::frontier

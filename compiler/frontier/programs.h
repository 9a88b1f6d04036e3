#pragma once
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/split_products.h"

namespace schaas::frontier {

/// The frontier of a program, or of an expression that is no contraction. Its default nest has the copies
/// that it needs, and intermediates are computed where they are read, or everywhere. `contraction`: of the
/// products inside. Errors: those of compute; unsupported [program-profile].
support::Result<Frontier> compute_program(const problem::Problem& asked, const Options& options,
                                          const ComputeContraction& contraction, const Progress& progress,
                                          const support::Cancellation& cancellation);

}  // namespace schaas::frontier

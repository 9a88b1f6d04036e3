#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns the re-layouts that schedules of a problem with SpaceOption::copies may read, each for one access.
/// A matrix has the other order of its modes, a sparse tensor of three modes every other order; of dense
/// tensors and of more modes, each other mode is moved to the end. At most 12, and as many as costs have
/// variables for; those of earlier accesses first.
std::vector<problem::CopyRequest> possible_copies(const problem::Problem& problem);

/// Returns the sets of them in the space: none, one, two of different accesses; in this order.
std::vector<std::vector<problem::CopyRequest>> copy_sets(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

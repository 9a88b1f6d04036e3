#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// The copies that schedules of a problem with SpaceOption::copies may read, each for one access: of a matrix
/// the other order of its modes, of a tensor of three modes every other order where it is sparse; where it is
/// dense, and of more modes, each other mode moved to the end. At most 12, and as many as costs have
/// variables for; those of accesses that come first.
std::vector<problem::CopyRequest> possible_copies(const problem::Problem& problem);

/// The sets of them that the space has: none, one, two of different accesses; in this order.
std::vector<std::vector<problem::CopyRequest>> copy_sets(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// The copies of operands that give the default nest an order of loops: of accesses that stand in one nest
/// and whose storage orders contradict each other, as in `B(i,j) + C(j,i)` by rows, the ones with the fewest
/// entries are read from copies (as far as the constraints bound them; else the fewest accesses, the later
/// ones). None for most problems. Deterministic.
std::vector<problem::CopyRequest> needed_copies(const problem::Problem& problem);

/// What costs speak of: the problem without copies, and beside it, read by nothing, the ones it needs, with
/// SpaceOption::copies the possible ones, and those it had.
problem::Problem with_known_copies(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

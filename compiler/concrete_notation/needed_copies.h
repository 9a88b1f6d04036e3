#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// The copies of operands that give the default nest an order of loops: of accesses that stand in one nest
/// and whose storage orders contradict each other, as in `B(i,j) + C(j,i)` by rows, or that of a sparse result,
/// as in `A(i,j) = 2 * B(i,j)` with A by columns and B by rows, the ones with the fewest entries are read from
/// copies (as far as the constraints bound them; else the fewest accesses, the later ones). Not for the result
/// of a contraction (result_copies.h). None for most problems. Deterministic.
std::vector<problem::CopyRequest> needed_copies(const problem::Problem& problem);

/// The copy of what the access reads whose modes come in the order of the loops.
problem::CopyRequest copy_along(const std::vector<std::string>& loops, const index_notation::Access& access,
                                const problem::Problem& problem);

/// What costs speak of: the problem without copies, and beside it, read by nothing, the ones it needs or its
/// result may be made from, with SpaceOption::copies the possible ones, and those it had.
problem::Problem with_known_copies(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

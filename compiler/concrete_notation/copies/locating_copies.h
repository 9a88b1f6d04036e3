#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns these re-layouts, and more, so that no loop walks the first level of a sparse operand again and
/// again in search of a coordinate. An example is `A(i,j) = B(i,k) * C(k,j)` with C in coo. Each row of B
/// would be merged with the list of all rows of C; a copy in csr has its rows at known positions. Sought are
/// coordinates of an index that another sparse operand has at a later level. Accesses whose first level lists
/// them are read from copies with a dense first level (problem::CopyRequest::locates). The same set where
/// there are none.
std::vector<problem::CopyRequest> with_locating_copies(const std::vector<problem::CopyRequest>& set,
                                                       const problem::Problem& problem);

/// Returns the sets, and behind each of them the one with_locating_copies makes of it, if that is another
/// one.
std::vector<std::vector<problem::CopyRequest>> also_locating(
    const std::vector<std::vector<problem::CopyRequest>>& sets, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns these re-layouts, and more, so that no loop around walks the first level of a sparse operand again
/// and again in search of a coordinate. An example is `A(i,j) = B(i,k) * C(k,j)` with C in coo: for each row
/// of B the list of all rows of C would be merged with it. A copy in csr has the rows at known positions. So
/// accesses whose first level lists coordinates of an index that another sparse operand has at a later level
/// are read from copies with a dense first level (problem::CopyRequest::locates). The same set where there
/// are none.
std::vector<problem::CopyRequest> with_locating_copies(const std::vector<problem::CopyRequest>& set,
                                                       const problem::Problem& problem);

/// Returns the sets, and behind each of them the one with_locating_copies makes of it, if that is another
/// one.
std::vector<std::vector<problem::CopyRequest>> also_locating(
    const std::vector<std::vector<problem::CopyRequest>>& sets, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

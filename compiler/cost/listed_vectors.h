#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/iteration_space.h"

namespace schaas::cost {

/// Tells whether the consumer of a branch inside a loop walks the entries that the producer wrote, and no
/// others. The temporary is a vector with a list of them (lower/analysis/occupancy.cc), written at the
/// entries of sparse operands. One loop over it computes what is zero where it is, such as the second half of
/// `t(j) += B(i,k) * C(k,j), A(i,j) += tanh(t(j))`. Asked of programs alone: the recursion over contractions
/// prices such vectors by their extents.
bool reads_list(const concrete_notation::Where& both, const Operands& operands);

}  // namespace schaas::cost

#pragma once
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/iteration_space.h"

namespace schaas::cost {

/// Returns the loops of a branch's consumer that walk the entries which the producer wrote, and no others.
/// The branch is inside a loop. Its temporary is a vector with a list of them (lower/analysis/occupancy.cc),
/// written at the entries of sparse operands. Every loop that reads it computes what is zero where it is. In
/// `t(j) += B(i,k) * C(k,j), A(i,j) += tanh(t(j))` the second loop does. Returns none where one does not.
/// Asked of programs alone: the recursion over contractions prices such vectors by their extents.
std::vector<const concrete_notation::Forall*> list_loops(const concrete_notation::Where& both,
                                                         const Operands& operands);

}  // namespace schaas::cost

#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Sets of copies of operands with which a contraction, or a product of functions of elements
/// (problem/factors.h), appends to its sparse result in order where storage orders allow no such loops, as in
/// `A(j,i) = B(i,j)` and `A(k,i) = B(i,j) * C(j,k)` by rows. Without copies such a result is gathered in a
/// workspace of all its elements. For each order of the loops that comes to the result's first level before
/// anything is summed: the accesses that contradict it, each in that order. Each set once, those of fewer
/// copies first, at most 12; none for other problems, and for more than 6 indices.
std::vector<std::vector<problem::CopyRequest>> result_copy_sets(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

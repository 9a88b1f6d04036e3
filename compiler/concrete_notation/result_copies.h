#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns sets of re-layouts with which a contraction appends to its sparse result in order; so may a
/// product of functions of elements (problem/factors.h). They help where storage orders allow no such loops,
/// as in `A(j,i) = B(i,j)` and `A(k,i) = B(i,j) * C(j,k)` by rows. Without them such a result needs a
/// workspace of all its elements. For each loop order that reaches the result's first level before anything
/// is summed: the contradicting accesses, each in that order. Each set once, smaller ones first, at most 12;
/// none for other problems, and for more than 6 indices.
std::vector<std::vector<problem::CopyRequest>> result_copy_sets(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

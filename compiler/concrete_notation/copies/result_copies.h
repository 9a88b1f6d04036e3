#pragma once
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns the sets of re-layouts with which a contraction is searched whose sparse result needs them; so may
/// a product of functions of elements (problem/rewrites/factors.h). Storage orders may allow no loops that
/// append in order, as in `A(j,i) = B(i,j)` and `A(k,i) = B(i,j) * C(j,k)` by rows. They may also allow only
/// loops that begin with a sum, as in `A(i,j) = B(k,i) * C(k,j)` by rows. Without them such a result needs a
/// workspace of all its elements; the first set, of none, stands for that. They also help where rows of the
/// result would be filled, as in `A(i,k) = B(i,j) * C(k,j)` by rows. No operand is walked along k there, so
/// that every row would hold every k. Only sets that mend this are returned then: entries of a result do not
/// depend on the schedule. There is a set for each loop order that reaches the result's first level before
/// anything is summed: the contradicting accesses, each in that order. Each set once, smaller ones first, at
/// most 12 beside the set of none; no sets for other problems, and for more than 6 indices.
std::vector<std::vector<problem::CopyRequest>> result_copy_sets(const problem::Problem& problem);

/// Returns such sets for sampled products, after the set of none; nothing for others. Loops in order may
/// append entries before they have walked every operand. With copies all are walked down to the result's last
/// level: `A(i,j) = D(i,j) * B(i,k) * C(j,k)` by rows has the loops i, k, j with a copy of C by columns.
std::vector<std::vector<problem::CopyRequest>> meeting_copy_sets(const problem::Problem& problem);

/// Returns such sets with which every loop goes along a sparse operand that the loops around have reached.
/// An example is `A(i,l) = B(i,j) * C(j,k) * D(k,l)` by rows with C by columns. Loops i, k, j, l append in
/// order without a copy of C, but take every k for every i. None where no order needs copies for that.
std::vector<std::vector<problem::CopyRequest>> walking_copy_sets(const problem::Problem& problem);

/// Returns the re-layouts of two sparse tensors, of three modes or more, that share two indices or more. With
/// these the loops over what they share come first, and the rest is walked where both store something:
/// `G(j,m) = T(i,j,k) * T(i,m,k)` has the loops i, k, j, m. Without them each row of one is met with each of
/// the other. None for sparse results, whose rows come first.
std::vector<problem::CopyRequest> common_index_copies(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

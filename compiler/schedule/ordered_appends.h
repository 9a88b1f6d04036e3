#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::schedule {

/// A result with compressed levels is appended to, entry after entry in the order of its levels. A tree whose
/// loops do not come by in that order, or that would append an entry for every coordinate of a loop over
/// nothing sparse only to sum something below, gets a temporary of the missing levels at the innermost place
/// that makes the appends ordered: Gustavson's row of a sparse matrix product (Kjolstad et al., CGO 2019).
///     forall(i, forall(k, forall(j, A(i,j) += B(i,k) * C(k,j))))
///     forall(i, where(forall(j, A(i,j) += t1(j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j)))))
/// Other trees, and those that run in blocks, are returned as they are.
concrete_notation::StatementPtr with_ordered_appends(const concrete_notation::StatementPtr& tree,
                                                     const problem::Problem& problem);

}  // namespace schaas::schedule

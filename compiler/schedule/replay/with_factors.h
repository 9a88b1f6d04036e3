#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/rewrites/factors.h"

namespace schaas::schedule {

/// Turns a tree of the contraction into one of the product with numbers and functions. Each assignment
/// multiplies by the functions of its elements, the first one that reads the contraction's first operand also
/// by the number.
///     forall(i, forall(j, forall(k, t1(k) += B(i,j) * C(j,k))))
///     forall(i, forall(j, forall(k, t1(k) += 2 * B(i,j) * abs(C(j,k)))))
concrete_notation::StatementPtr with_factors(const concrete_notation::StatementPtr& tree,
                                             const problem::Factors& factors);

}  // namespace schaas::schedule

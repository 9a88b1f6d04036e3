#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// Returns a normal form under the laws that schedules use. Products are flat and sorted, and
/// distributed over the sums of the semiring among their factors; nested reductions by one
/// monoid are merged, reduced indices are sorted. Sums are flat and sorted, a sum over a sum is the sum of
/// its terms' sums; in ordinary arithmetic a difference is a sum.
index_notation::Expression normal_form(const index_notation::Expression& expression,
                                       const problem::Problem& problem);

}  // namespace schaas::concrete_notation

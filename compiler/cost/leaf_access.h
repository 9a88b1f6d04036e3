#pragma once
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/access.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

namespace schaas::cost {

/// The number of an index among the extents.
int number_of(const Variables& variables, const std::string& index);

/// The access class of an assignment of a tree. `own`: the loops below the innermost branch above it,
/// outermost first, by number; `phase`: no loop is above that branch. A temporary is taken to be laid out so
/// that the innermost loop of either side finds its elements side by side.
Access access_class(const concrete_notation::Assign& leaf, const std::vector<int>& own, bool phase,
                    const problem::Problem& problem, const Variables& variables);

}  // namespace schaas::cost

#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/temporary_names.h"

namespace schaas::schedule {

/// Returns the loop nest of one statement with any expression on its right side. Each reduction inside
/// becomes a temporary, computed by a branch as far out as the free indices of the reduction allow:
///     Y(i) = max(j)(B(i,j)) / c(i)    forall(i, where(Y(i) += t1 / c(i), forall(j, t1 max= B(i,j))))
/// Where loops over other indices would surround it, or storage orders forbid it, the branch stands further
/// out and the temporary is a vector. It stays when those other loops only walk entries of a sparse operand,
/// which decide where the reduction is needed at all.
concrete_notation::StatementPtr statement_nest(const index_notation::Assignment& statement,
                                               const problem::Problem& problem, TemporaryNames& names);

}  // namespace schaas::schedule

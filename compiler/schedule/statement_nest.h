#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/temporary_names.h"

namespace schaas::schedule {

/// The loop nest of one statement whose right side is any expression. Each reduction inside of it becomes a
/// temporary, computed by a branch that stands as far out as the free indices of the reduction allow:
///     Y(i) = max(j)(B(i,j)) / c(i)    forall(i, where(Y(i) += t1 / c(i), forall(j, t1 max= B(i,j))))
/// Where loops over other indices would stand around that place, or storage orders forbid it, the branch
/// stands further out and the temporary is a vector; but not when those other loops run over the entries of a
/// sparse operand only, which then say where the reduction is needed at all.
concrete_notation::StatementPtr statement_nest(const index_notation::Assignment& statement,
                                               const problem::Problem& problem, TemporaryNames& names);

}  // namespace schaas::schedule

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::lower {

/// Numbers indices, tensors and operands. A temporary gets the storage order of the loops above the deeper of
/// the leaves that write and read it (the writer on a tie). Its innermost loop then walks contiguous
/// elements. Errors: invalid [lower-unknown-index], [lower-rank] for a tree that was not verified.
support::Result<NestTree> number(const concrete_notation::StatementPtr& statement,
                                 const problem::Problem& problem);

}  // namespace schaas::lower

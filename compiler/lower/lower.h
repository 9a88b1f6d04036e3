#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/loop_ir/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::lower {

/// Lowers a verified tree to a kernel: phases over ranges of their outermost loop, temporaries sized and
/// reset, scalars in registers. Arguments are problem.tensors() in order. Errors: unsupported
/// [sparse-result], [lower-...] saying what would work.
support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem);

}  // namespace schaas::lower

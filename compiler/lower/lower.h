#pragma once
#include <vector>

#include "compiler/concrete_notation/leaf_code.h"
#include "compiler/concrete_notation/nodes.h"
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/pass_runner.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::lower {

/// Lowers a verified tree to a kernel: phases over ranges of their outermost loop, temporaries sized and
/// reset, scalars in registers. A result with compressed levels is counted by a symbolic phase and filled by
/// a numeric one (proto/kernel_abi.h). Arguments are problem.tensors() in order. Errors: unsupported
/// [level-format] (a level that no kernel walks), [gpu-loop] (emit/facts/thread_mapping.h), [sparse-result]
/// (one that is updated, or made in blocks); invalid [lower-...] for a tree that was not verified. `options`
/// choose and observe the passes.
support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem, const PassOptions& options = {});

/// Describes the code that `lower` makes with all passes, leaf by leaf in the order in which leaves run.
/// Errors: those of `lower`.
support::Result<std::vector<concrete_notation::LeafCode>> describe(
    const concrete_notation::StatementPtr& statement, const problem::Problem& problem);

}  // namespace schaas::lower

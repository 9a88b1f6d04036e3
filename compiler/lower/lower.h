#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/loop_ir/kernel.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::lower {

/// What may be left out of a kernel that is wanted soon: it computes the same by shorter code.
struct Effort {
  bool cut_rows = true;      ///< long rows in parts (cut.h)
  bool ask_ahead = true;     ///< rows asked for before other work is over (ahead.h, next_rows.h)
  bool jam = true;           ///< loops that share loads unrolled and jammed (jam.h)
  bool versions = true;      ///< for sizes that extents often have (versions.h)
  bool values_alone = true;  ///< for results that keep their structure (values_alone.h)
  bool sparse_rows = true;   ///< how rows of sparse results are summed (expand.h, alike_rows.h)
  static constexpr Effort least() { return {false, false, false, false, false, false}; }
};

/// Lowers a verified tree to a kernel: phases over ranges of their outermost loop, temporaries sized and
/// reset, scalars in registers; a result with compressed levels is counted by one phase and filled by the
/// next (proto/kernel_abi.h). Arguments are problem.tensors() in order. Errors: unsupported [level-format] (a
/// level that no kernel walks), [gpu-loop] (lower/units.h), [sparse-result] (one that is updated, or made in
/// blocks); invalid [lower-...] for a tree that was not verified.
support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem, Effort effort = {});

}  // namespace schaas::lower

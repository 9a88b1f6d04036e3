#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/loop_ir/kernel.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::lower {

/// Optional passes; a baseline kernel leaves them out and computes the same by shorter code.
struct Effort {
  bool split_rows = true;      ///< row splitting (row_splitting.h)
  bool prefetch = true;        ///< software prefetching (prefetch_gathers.h, prefetch_rows.h)
  bool unroll_and_jam = true;  ///< unroll and jam (unroll_and_jam.h), packed panels
  bool specialise = true;      ///< specialisation for common extents (specialisation.h)
  bool numeric_phases = true;  ///< bodies that reuse the structure of a result (numeric_phase.h)
  bool sparse_rows = true;     ///< expand-sort-compress and supernodes (expand.h, supernodes.h)
  static constexpr Effort least() { return {false, false, false, false, false, false}; }
};

/// Lowers a verified tree to a kernel: phases over ranges of their outermost loop, temporaries sized and
/// reset, scalars in registers. A result with compressed levels is counted by a symbolic phase and filled by
/// a numeric one (proto/kernel_abi.h). Arguments are problem.tensors() in order. Errors: unsupported
/// [level-format] (a level that no kernel walks), [gpu-loop] (lower/thread_mapping.h), [sparse-result] (one
/// that is updated, or made in blocks); invalid [lower-...] for a tree that was not verified.
support::Result<loop_ir::Kernel> lower(const concrete_notation::StatementPtr& statement,
                                       const problem::Problem& problem, Effort effort = {});

}  // namespace schaas::lower

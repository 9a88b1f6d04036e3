#pragma once
#include <map>
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/loop_variables.h"
#include "compiler/lower/analysis/names.h"
#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_arrays.h"
#include "compiler/lower/emit/facts/kernel_extents.h"
#include "compiler/lower/emit/facts/scratch_arrays.h"
#include "compiler/lower/emit/facts/shared_arrays.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// A kernel that is being emitted, and those that declare its parts. The kernel declares what it uses, each
/// once, and the extents that are fixed.
struct KernelBuilder {
  KernelBuilder(const problem::Problem& problem, const NestTree& tree);
  KernelBuilder(const KernelBuilder&) = delete;
  KernelBuilder& operator=(const KernelBuilder&) = delete;

  Names names;
  loop_ir::Kernel kernel;
  KernelExtents extents;
  KernelArrays arrays;
  SharedArrays shared;
  ScratchArrays scratch;
  LoopVariables variables;  ///< those of the loops that were emitted for a loop of the tree
};

}  // namespace schaas::lower

#pragma once
#include <vector>

#include "compiler/concrete_notation/leaf_code.h"
#include "compiler/concrete_notation/nodes.h"
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/loop_variables.h"
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// A kernel, and the tree that it was emitted from, after the passes on trees.
struct Lowered {
  NestTree tree;
  loop_ir::Kernel kernel;
  LoopVariables variables;
};

/// Describes the code of each leaf of `statement`, in the order in which leaves run. Loops that passes
/// replaced by others are left out.
std::vector<concrete_notation::LeafCode> describe(const concrete_notation::StatementPtr& statement,
                                                  const Lowered& lowered);

}  // namespace schaas::lower

#pragma once
#include <vector>

#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/nest.h"

namespace schaas::lower {

/// Factors whose product is about how often the deepest leaf of a phase runs: extents, and numbers of entries
/// of the levels that loops walk. Where several operands are walked of which none contains the other, it is
/// rather too small.
std::vector<loop_ir::ExpressionPtr> work_of(const NestPtr& phase, const NestTree& tree,
                                            KernelBuilder& builder);

}  // namespace schaas::lower

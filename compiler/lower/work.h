#pragma once
#include <vector>

#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/nest.h"

namespace schaas::lower {

/// Returns factors whose product estimates how often the deepest leaf of a phase runs: extents, and entries
/// of walked levels. Underestimates where several walked operands contain none of each other.
std::vector<loop_ir::ExpressionPtr> work_of(const NestPtr& phase, const NestTree& tree,
                                            KernelBuilder& builder);

}  // namespace schaas::lower

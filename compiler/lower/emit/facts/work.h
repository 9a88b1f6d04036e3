#pragma once
#include <vector>

#include "compiler/lower/analysis/nest.h"
#include "compiler/lower/emit/facts/kernel_builder.h"

namespace schaas::lower {

/// Returns factors whose product estimates how often the deepest leaf of a phase runs: extents, and entries
/// of walked levels. Underestimates where several walked operands contain none of each other.
std::vector<loop_ir::ExpressionPtr> work_of(const NestPtr& phase, const NestTree& tree,
                                            KernelBuilder& builder);

}  // namespace schaas::lower

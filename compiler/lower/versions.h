#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/problem/problem.h"

namespace schaas::lower {

/// Gives phases versions for small sizes that dense extents often have (loop_ir::Versions): with the trips
/// and strides of the innermost loops constant, rows stay in registers over the loops around, and no loop has
/// a rest. Of the extents that the loops run over whose iterations share a register, as far as no sparse
/// level has them, the constraints leave them open, and allow the sizes. Nothing of a phase that has none.
loop_ir::Kernel add_versions(loop_ir::Kernel kernel, const problem::Problem& problem);

}  // namespace schaas::lower

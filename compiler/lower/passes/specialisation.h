#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Specialises phases for small extents that dense modes often have (Phase::specialised). With trip counts
/// and strides of the innermost loops constant, rows stay in registers across outer loops, and no remainder
/// loop is needed. Considers the extents of vector loops that no sparse level has, that constraints leave
/// open and whose sizes they allow. Where scalar loops over other such extents are around, all may be 1, as
/// in products with vectors; a version for that has loops that run once.
loop_ir::Kernel specialise(loop_ir::Kernel kernel);

}  // namespace schaas::lower

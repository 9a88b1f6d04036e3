#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Adds software prefetching (For::prefetch_distance) to loops over entries that gather rows. Applies where
/// other loops run before or after each few entries, or over a short fiber below another level. The processor
/// then does not run ahead to the next loads. docs/performance/kernels.md.
loop_ir::Kernel prefetch_gathers(loop_ir::Kernel kernel);

}  // namespace schaas::lower

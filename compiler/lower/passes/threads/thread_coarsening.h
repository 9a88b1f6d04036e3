#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Coarsens threads of a GPU over columns (Sgap, section 3.2): moves a thread's loop over its columns inside
/// all others, into registers. Lists are then walked once for all columns. A thread with fewer columns, at
/// the border, keeps the loop. Phases stay unchanged when a loop bound depends on the column, or columns pass
/// values through one element of a temporary.
loop_ir::Kernel coarsen_threads(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

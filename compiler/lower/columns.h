#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/names.h"

namespace schaas::lower {

/// Phases for a GPU: where a thread has several columns, its loop over them goes inside all others, into
/// registers: what is walked is walked once for all of them (the coarsening of Sgap, section 3.2). A thread
/// with fewer columns, at the border, keeps the loop. Phases in which a loop's bounds depend on the column,
/// or in which columns pass something by one place of a temporary, stay as they are.
loop_ir::Kernel put_columns_side_by_side(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

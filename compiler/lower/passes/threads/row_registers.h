#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Keeps elements of a row that a thread of a GPU folds into, term by term, in registers until
/// the sum ends. They are those of `Y(i,l)` in a fused nest, whose columns the threads of a row share. There
/// are bodies for rows of few and of more elements; longer ones are folded in memory.
loop_ir::Kernel keep_rows_in_registers(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Returns the values that one instruction of a GPU loads at most.
int vector_elements(loop_ir::ValueType type);

/// Loads and stores adjacent values that a thread of a GPU uses together with one instruction of up to 16
/// bytes. They are those of its columns, and those of a loop over a whole extent, which is unrolled. A phase
/// gets a second body for tensors that are aligned (loop_ir::Alignment) and keeps its own for all others.
loop_ir::Kernel vectorize_loads(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

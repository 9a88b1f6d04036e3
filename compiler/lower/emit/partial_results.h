#pragma once
#include "compiler/lower/emit/emission.h"

namespace schaas::lower {

/// Emits the partial result of an iteration of the phase that `around` has emitted and, where it has a
/// carry-out, the fix-up.
loop_ir::RowSplit emit_row_split(const NestPtr& nest, const Sink& sink, const RowSplit& row_split,
                                 const Emission& around);

}  // namespace schaas::lower

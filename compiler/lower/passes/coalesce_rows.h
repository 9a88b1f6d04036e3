#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Coalesces loops over rows and over the entries of each row, where nothing depends on the row. Entries of
/// adjacent rows are adjacent: one loop over all of them remains, vectorised where its values allow that.
///
///     for i in begin .. end {
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] { t += (B[pj] * B[pj]) } }
///
/// becomes
///
///     for simd pj in B_pos1[begin] .. B_pos1[end] { t += (B[pj] * B[pj]) }
///
/// Rows of five entries otherwise end in a mispredicted branch each. Applies to folds into accumulators that
/// are declared outside both loops.
loop_ir::Kernel coalesce_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Coalesces loops over rows and over the entries of each row, where they do not depend on the row. Entries
/// of adjacent rows are adjacent: one loop over all of them remains, vectorised where its values allow that.
///
///     for i in begin .. end {
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] { t += (B[pj] * B[pj]) } }
///
/// becomes
///
///     for simd pj in B_pos1[begin] .. B_pos1[end] { t += (B[pj] * B[pj]) }
///
/// Rows of five entries otherwise end in a mispredicted branch each. Applies to folds into accumulators that
/// are declared outside both loops, and to folds into elements of arrays, as sums of columns. Applies as well
/// to loops that append one entry to the result for each entry. Values, coordinates and positions of the
/// result then have a loop each, which vectorises or copies:
///
///     counter q = A_counts1[begin]
///     for i in begin .. end {
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] {
///         let j: index = B_crd1[pj]
///         let pA: index = q
///         A[pA] = abs(B[pj])
///         A_crd1[pA] = j
///         set q = (pA + 1) }
///       A_pos1[(i + 1)] = q }
///
/// becomes
///
///     let q: index = (A_counts1[begin] - B_pos1[begin])
///     for simd pj in B_pos1[begin] .. B_pos1[end] { A[(pj + q)] = abs(B[pj]) }
///     for pj in B_pos1[begin] .. B_pos1[end] { A_crd1[(pj + q)] = B_crd1[pj] }
///     for i in begin .. end { A_pos1[(i + 1)] = (B_pos1[(i + 1)] + q) }
///
/// Values that know their row keep its loop. Its vectors may run past the end.
///
///     for i in begin .. end {
///       let v: value = d[i]
///       for simd pj in B_pos1[i] .. B_pos1[(i + 1)] overruns { A[(pj + q)] = (v * B[pj]) } }
///
/// The loop is a scalar one where the values gather, too.
loop_ir::Kernel coalesce_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

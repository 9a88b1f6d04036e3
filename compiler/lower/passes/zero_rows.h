#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Skips loops over entries that fold nothing but zeros. With or-and, a vertex that a search has not reached:
///
///     for i in begin .. end {
///       let v: value = x[i]
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] entries of B_crd1 {
///         let j: index = B_crd1[pj]
///         y[j] or= and(v, B[pj])
///       }
///     }
///
/// has `if v { ... }` around the inner loop. The factor is the same in all iterations and in all products
/// that the loop folds. Applies to `or` of `and`, and to sums of products of integers. Elsewhere the product
/// of zero and an infinite value is no zero. Loops that are jammed, or store whole rows, stay.
loop_ir::Kernel skip_zero_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

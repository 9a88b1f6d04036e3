#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Fuses two phases, one after the other, that walk the rows of one operand and add to the result: the rows
/// are read once.
///
///     phase range n_i parallel {
///       for i in begin .. end {
///         sum t
///         for pj in L_pos[i] .. L_pos[(i + 1)] entries of L_crd row i of L_pos {
///           t += (L[pj] * x[L_crd[pj]])
///         }
///         y[i] = t
///       }
///     }
///     phase range n_i parallel fold y sum {
///       for j in begin .. end {
///         for pi in L_pos[j] .. L_pos[(j + 1)] entries of L_crd row j of L_pos {
///           y[L_crd[pi]] += (x[j] * L[pi])
///         }
///       }
///     }
///
/// becomes
///
///     phase range n_i parallel fold y sum {
///       for i in begin .. end {
///         let j: index = i
///         sum t
///         for pj in L_pos[i] .. L_pos[(i + 1)] entries of L_crd row i of L_pos {
///           t += (L[pj] * x[L_crd[pj]])
///           let pi: index = pj
///           y[L_crd[pi]] += (x[j] * L[pi])
///         }
///         y[i] += t
///       }
///     }
///
/// The client then clears the result. This is the product with a symmetric matrix of which one triangle is
/// stored, and with a matrix and its transpose in one (docs/performance/results.md).
loop_ir::Kernel fuse_phases(loop_ir::Kernel kernel);

}  // namespace schaas::lower

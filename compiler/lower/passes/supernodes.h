#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Adds rows of a supernode at once: consecutive rows of a matrix with identical coordinates, as finite
/// elements have for the unknowns of a node. When they are summed into a clustered row of a sparse result,
/// one load and one store of a sum serve up to four products.
///
///     for pj in A_pos1[i] .. A_pos1[(i + 1)] {
///       let j: index = A_crd1[pj]
///       let v: value = A[pj]
///       groups m in w_set ...
///       if m {                                          if m {
///         for pk in B_pos1[j] .. B_pos1[(j + 1)] {        supernode pj to A_pos1[(i + 1)] rows A_crd1 times
///         A and
///           let k: index = B_crd1[pk]             ->          1.0 of B_pos1 B_crd1 B into w set w_set
///           w_set[k] = 255                              }
///           w[k] += (v * B[pk]) } }
///       if (m == 0) { ... } }
///
/// Sums of products are grouped by up to four. docs/performance/results.md.
loop_ir::Kernel add_supernodes(loop_ir::Kernel kernel);

}  // namespace schaas::lower

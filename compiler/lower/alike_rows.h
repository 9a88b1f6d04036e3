#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Where rows of a matrix whose entries lie near each other are summed into a row of a sparse result, those
/// of the same coordinates that come one after the other are added at once: one load and one store of a sum
/// for up to four products. Matrices of finite elements have such rows, one for each unknown of a node.
///
///     for pj in A_pos1[i] .. A_pos1[(i + 1)] {
///       let j: index = A_crd1[pj]
///       let v: value = A[pj]
///       groups near in w_set ...
///       if near {                                       if near {
///         for pk in B_pos1[j] .. B_pos1[(j + 1)] {        alike pj to A_pos1[(i + 1)] rows A_crd1 times A
///         and 1.0
///           let k: index = B_crd1[pk]             ->          of B_pos1 B_crd1 B into w set w_set
///           w_set[k] = 255                              }
///           w[k] += (v * B[pk]) } }
///       if (near == 0) { ... } }
///
/// Sums of products are so grouped by up to four. docs/notes/performance.md, section 44.
loop_ir::Kernel add_alike_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

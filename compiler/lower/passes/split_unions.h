#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Splits a loop that stores an element for each coordinate of an extent, where lists hold some of them.
///
///     merge any j in 0 .. n_j at pj present has over B_crd1 in B_pos1[i] .. B_pos1[(i + 1)] {
///       Z[(o + j)] = (choose(has, B[pj], 0.0) + D[(o + j)])
///     }
///
/// becomes
///
///     for simd j in 0 .. n_j { Z[(o + j)] = (0.0 + D[(o + j)]) }
///     for pj in B_pos1[i] .. B_pos1[(i + 1)] entries of B_crd1 {
///       let j: index = B_crd1[pj]
///       Z[(o + j)] = (B[pj] + D[(o + j)])
///     }
///
/// Elements that lists hold are stored twice; each value is computed as before. Several lists become a union
/// without the extent. The merge mispredicts near each entry and stores single elements: Z = B + D of 2,000
/// rows and columns, ten entries a row, takes two to three times as long (docs/performance/results.md).
loop_ir::Kernel split_unions(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

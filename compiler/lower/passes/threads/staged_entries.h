#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Stages coordinates and values of a row in shared memory, where threads with adjacent columns walk the same
/// entries (coalesced row caching of GE-SpMM: Huang et al., SC 2020, section 3.2). Each thread of the group
/// loads some of 32 entries, and all of them walk these. Groups of which a thread lacks a column run the
/// phase as it was.
///
///     for pj in A_pos1[i] .. A_pos1[(i + 1)] entries of A_crd1 {       if staged {
///       let j: index = A_crd1[pj]                                        let stop: index = A_pos1[(i + 1)]
///       t += (A[pj] * B[((j * n_k) + k)])                      ->        for chunk in A_pos1[i] .. stop by
///       32 {
///     }                                                                    let count: index = min((stop -
///     chunk), 32)
///                                                                          stage 32 from chunk count count
///                                                                          ... for pj in 0 .. count entries
///                                                                          of A_crd1_staged {
///                                                                            let j: index =
///                                                                            A_crd1_staged[pj] t +=
///                                                                            (A_staged[pj] * B[((j * n_k) +
///                                                                            k)])
///                                                                          }
///                                                                        }
///                                                                      }
///                                                                      if (staged == 0) { ... }
///
/// Applies in phases whose mapping stages, to innermost loops over entries whose bounds are the same for all
/// columns. Order of summation is kept.
loop_ir::Kernel stage_entries(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

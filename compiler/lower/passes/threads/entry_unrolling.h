#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Unrolls and jams loops of a GPU's threads over stored entries (Callahan, Carr, Kennedy, PLDI 1990). Loads
/// under way hide the latency of memory (Volkov, GTC 2010). Four entries are taken at a time, then those that
/// remain; where a thread runs a whole loop for each, two of these, then one. Loads come before the first
/// use, so that a thread waits once for all of them. A load that the copies share is done once, as is a fold
/// into an element that they share. A thread that gets single entries is left as it is.
///
///     for pj in b .. e entries of A_crd1 {      counter next = b
///       let j: index = A_crd1[pj]               for pj in next .. (e - 3) by 4 jammed entries of A_crd1 {
///       t += (A[pj] * B[j])                 ->    let j: index = A_crd1[pj]  let j_1: index = ...
///     }                                           let v: value = A[pj]       let v_1: value = B[j] ...
///                                                 t += (v * v_1)             t += (v_2 * v_3) ...
///                                                 set next = (pj + 4)
///                                               }
///                                               for pj in next .. e by 3 remainder entries of A_crd1 {
///                                                 let j_4: index = A_crd1[min((pj + 1), (e - 1))] ...
///                                                 if ((pj + 1) < e) { t += (v_5 * v_6) } ...
///                                               }
///
/// Applies where the body reads no array that it writes. Bounds of inner loops and conditions are the same
/// for all entries. Sums may be reassociated, nothing else changes.
loop_ir::Kernel unroll_entries(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

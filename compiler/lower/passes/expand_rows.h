#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Expand-sort-compress for rows of a sparse result that are sums of few terms (Dalton, Olson, Bell, ACM TOMS
/// 41, 2015). A workspace of the size of a row costs some 50 cycles an entry. All of it is touched, and its
/// occupancy bitmap is set and searched. A list of few terms stays in vector registers while it is sorted.
/// The number of terms of a row is known from positions alone.
///
///     counter n = 0                                     counter n = 0
///     for pj in A_pos1[i] .. A_pos1[(i + 1)] {          counter terms = 0
///       let j: index = A_crd1[pj]                       for pj in A_pos1[i] .. A_pos1[(i + 1)] {
///       let v: value = A[pj]                              let j: index = A_crd1[pj]
///       for pk in B_pos1[j] .. B_pos1[(j + 1)] {          set terms = (terms + (B_pos1[(j + 1)] -
///       B_pos1[j])) }
///         let k: index = B_crd1[pk]                     if (terms <= 64) {
///         occupy w_set ... at k                    ->     for pj ... { let j ... let v ...
///         w[k] += (v * B[pk]) } }                           expand B_crd1 B in ... times v to t_list ...
///         count n }
///     compact w_set ... count n                           compress t_list values t count n
///     for pk in 0 .. n {                                  for pk in 0 .. n {
///       let k: index = w_list[pk]                           let k: index = t_list[pk]
///       C[q] = w[k] ...                                     C[q] = t[pk] ... } }
///       w[k] = 0.0 }                                    if (terms > 64) { as on the left }
///
/// Terms of one coordinate are summed in the same order. Other semirings have terms, too, where their sum
/// begins with 0, as `or` does. docs/performance/results.md.
loop_ir::Kernel expand_rows(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

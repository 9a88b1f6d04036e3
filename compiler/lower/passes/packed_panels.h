#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Packs factors of a register tile into a panel (Goto and van de Geijn, ACM TOMS 34, 2008). Applies to
/// jammed loops (unroll_and_jam.h) over rows whose factor is computed from several operands. The factor is
/// computed before the tile, in vectors, once for all blocks of columns. Its thread-private buffer stays in
/// the L1 cache. Inside the tile each factor would cost a multiplication and a register move beside two or
/// four multiply-adds.
///
///     for k in begin .. (end - 5) by 6 {             for k in begin .. (end - 5) by 6 {
///       let o: index = (k * n_j) ...                   let o: index = (k * n_j) ...
///                                                      for simd j in 0 .. n_j {
///                                                        rows[j] = (C[(o + j)] * D[(o + j)])
///                                              ->        rows[(n_j + j)] = ... }
///       for vector l in 0 .. n_l {                     for vector l in 0 .. n_l {
///         for j in 0 .. n_j {                            for j in 0 .. n_j {
///           t += ((C[(o + j)] * D[(o + j)]) * E[...])      t += (rows[j] * E[...]) ...
///
/// Values and their order of summation stay the same. docs/performance/kernels.md.
loop_ir::Kernel pack_panels(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

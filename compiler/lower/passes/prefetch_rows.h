#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Adds software prefetching to jammed loops (unroll_and_jam.h) over rows of an operand, each row a factor of
/// a register tile. The loop prefetches the next rows while it multiplies with the present ones. Hardware
/// prefetchers do not follow several rows at once that pause for the time of their products.
///
///     for k in begin .. (end - 5) by 6 {             for k in begin .. (end - 5) by 6 {
///       let o: index = (k * n_j) ...                   let o: index = (k * n_j) ...
///       for vector l in 0 .. n_l {                     for vector l in 0 .. n_l {
///         for j in 0 .. n_j {                  ->        for j in 0 .. n_j {
///           t += (C[(o + j)] * D[...]) ...                 t += (C[(o + j)] * D[...]) ...
///                                                          prefetch C[(o + ((n_j + j) * 6))]
///
/// For rows from a list, prefetches those that come next in memory: most rows of a list are close together.
/// docs/performance/kernels.md.
loop_ir::Kernel prefetch_next_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

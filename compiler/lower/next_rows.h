#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Of a jammed loop (jam.h) over rows of an operand, each of them a factor of a tile in registers: while it
/// multiplies with some rows it asks for the next ones. They lie one after the other, but a processor that is
/// shown several rows at once, and nothing for the time of their products, does not come to load them.
///
///     for k in begin .. (end - 5) by 6 {             for k in begin .. (end - 5) by 6 {
///       let o: index = (k * n_j) ...                   let o: index = (k * n_j) ...
///       for lanes l in 0 .. n_l {                      for lanes l in 0 .. n_l {
///         for j in 0 .. n_j {                  ->        for j in 0 .. n_j {
///           t += (C[(o + j)] * D[...]) ...                 t += (C[(o + j)] * D[...]) ...
///                                                          ask C[(o + ((n_j + j) * 6))]
///
/// Of rows from a list those are asked for that come next in memory: most of a list's lie close together.
/// docs/notes/performance.md, section 41.
loop_ir::Kernel ask_for_next_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

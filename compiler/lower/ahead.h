#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Loops over entries that gather rows, with other loops after or before them for each few entries, or over a
/// fiber of a few below another level's, so that a processor does not come to load for the next ones: what
/// these will gather is asked for ahead (For::ahead).
/// docs/notes/performance.md, section 40.
loop_ir::Kernel ask_ahead(loop_ir::Kernel kernel);

/// Of a jammed loop (jam.h) over rows of an operand, each of them a factor of a tile in registers: while it
/// multiplies with some rows it asks for the next ones. They lie one after the other, but a processor that is
/// shown several rows at once, and nothing for the time of their products, does not come to load them.
///
///     for k in begin .. (end - 3) by 4 {             for k in begin .. (end - 3) by 4 {
///       let o: index = (k * n_j) ...                   let o: index = (k * n_j) ...
///       for lanes l in 0 .. n_l {                      for lanes l in 0 .. n_l {
///         for j in 0 .. n_j {                  ->        for j in 0 .. n_j {
///           t += (C[(o + j)] * D[...]) ...                 t += (C[(o + j)] * D[...]) ...
///                                                          ask C[(o + ((n_j + j) * 4))]
///
/// docs/notes/performance.md, section 41.
loop_ir::Kernel ask_for_rows(loop_ir::Kernel kernel);

}  // namespace schaas::lower

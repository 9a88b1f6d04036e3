#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/names.h"

namespace schaas::lower {

/// Of a jammed loop (jam.h) over rows that are factors of a tile in registers: where a row's factor is
/// computed from several operands, it is computed before the tile, in vectors, and once for all blocks of its
/// columns, into a buffer of the thread that lies in the first-level cache. Inside of the tile each factor
/// cost a multiplication and a move from register to register beside the multiply-adds of two or four
/// vectors.
///
///     for k in begin .. (end - 5) by 6 {             for k in begin .. (end - 5) by 6 {
///       let o: index = (k * n_j) ...                   let o: index = (k * n_j) ...
///                                                      for simd j in 0 .. n_j {
///                                                        rows[j] = (C[(o + j)] * D[(o + j)])
///                                              ->        rows[(n_j + j)] = ... }
///       for lanes l in 0 .. n_l {                      for lanes l in 0 .. n_l {
///         for j in 0 .. n_j {                            for j in 0 .. n_j {
///           t += ((C[(o + j)] * D[(o + j)]) * E[...])      t += (rows[j] * E[...]) ...
///
/// What is computed and in which order stays the same. docs/notes/performance.md, section 42.
loop_ir::Kernel form_row_products(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

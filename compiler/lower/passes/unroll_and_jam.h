#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Unroll and jam (Callahan, Carr, Kennedy, PLDI 1990). A loop around loops whose bounds do not depend on it
/// takes four values at a time, or six for rows of a dense product. The copies of an inner loop become one
/// loop with as many bodies. A load that copies share (a row of an operand, or of the result) is done once,
/// and independent sums hide the latency of additions. A remainder loop runs the values below a whole group.
/// A loop over two or three values takes them all at once, one over nine takes three.
///
///     for i in 0 .. n {                          for i in 0 .. (n - 5) by 6 jammed {
///       let o: index = (i * 64)                    let o: index = (i * 64)
///       ...                                        let o_1: index = ((i + 1) * 64) ...
///       for vector l in 0 .. 64 {                  for vector l in 0 .. 64 {
///         sum t                             ->       sum t    sum t_1    sum t_2    sum t_3 ...
///         for k in 0 .. n_k {                        for k in 0 .. n_k {
///           t += (T[(o + k)] * D[((k * 64) + l)])      t += (T[(o + k)] * D[((k * 64) + l)]) ...
///
/// Applies where it is legal and the copies share a load, or fold independent values. The body is lets and
/// accumulators, then loops with invariant bounds that only fold, then stores; the loop does not read what it
/// writes. Sums may be reassociated, nothing else changes. Idempotent: both parts are marked (For::part).
loop_ir::Kernel unroll_and_jam(loop_ir::Kernel kernel, Names& names);
/// Unrolls and jams a statement that is to become one of the kernel's.
loop_ir::StatementPtr unroll_and_jam(const loop_ir::StatementPtr& statement, Names& names);

}  // namespace schaas::lower

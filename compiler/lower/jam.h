#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Unroll and jam: a loop around loops whose bounds do not depend on it takes four values at a time (six that
/// are rows of a dense product), and the four copies of an inner loop become one with four bodies, so that
/// what they load alike (a row of an operand, or of the result) is loaded once and four independent sums are
/// under way instead of one that waits for itself. The last values, fewer than a group, run as before. A loop
/// over two or three values takes them all at once, one over nine takes three.
///
///     for i in 0 .. n {                          for i in 0 .. (n - 5) by 6 {
///       let o: index = (i * 64)                    let o: index = (i * 64)    let o_1: index = ((i + 1) *
///       64) ... for lanes l in 0 .. 64 {                   for lanes l in 0 .. 64 {
///         sum t                             ->       sum t    sum t_1    sum t_2    sum t_3 ...
///         for k in 0 .. n_k {                        for k in 0 .. n_k {
///           t += (T[(o + k)] * D[((k * 64) + l)])      t += (T[(o + k)] * D[((k * 64) + l)]) ...
///
/// Done where it is legal and the copies share a load, or fold values that do not depend on each other: the
/// body is lets and accumulators, then loops with invariant bounds that only fold, then stores; what the loop
/// writes it does not read. Sums may be reassociated by it, nothing else changes. Idempotent on loops that
/// were jammed: they have a step.
loop_ir::Kernel jam(loop_ir::Kernel kernel);
/// The same of a statement that is to become one of the kernel's.
loop_ir::StatementPtr jam(const loop_ir::StatementPtr& statement, const loop_ir::Kernel& kernel);

}  // namespace schaas::lower

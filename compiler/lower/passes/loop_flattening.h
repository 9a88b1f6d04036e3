#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Loop flattening for values of a sparse result that are sums of their own, entry by entry (SDDMM). Where
/// rows are short, the entries of 64 rows are walked as one list. Its groups of four may cross rows. With
/// three to five entries in a row, the ends of groups and of rows are both mispredicted; this loop has one
/// end.
///
///     for i in begin .. end {
///       let o: index = (i * n_k)
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] { (in groups, and a remainder) } }
///
/// becomes
///
///     for c in begin .. end by 64 {
///       let last: index = min((c + 64), end)
///       let entries: index = (B_pos1[last] - B_pos1[c])
///       let few: index = (entries < ((last - c) * choose((n_k <= 16), 6, 0)))
///       if few {
///         for i in c .. last { fill rows from (B_pos1[i] - B_pos1[c]) ... with (i - c) }
///         for pj in B_pos1[c] .. B_pos1[last] {
///           let i: index = (c + rows[(pj - B_pos1[c])])
///           let o: index = (i * n_k)
///           (in groups, and a remainder) } }
///       if (few == 0) { for i in c .. last { as before } } }
///
/// `rows` has a byte for each entry. Runs after unroll_and_jam() and add_numeric_phases(), on numeric bodies;
/// the order of statements stays the same. docs/performance/kernels.md.
loop_ir::Kernel flatten_loops(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

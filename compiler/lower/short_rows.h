#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/names.h"

namespace schaas::lower {

/// Values of a sparse result that are sums of their own, entry by entry (SDDMM): where rows are short, the
/// entries of 64 rows are walked as one list, in groups of four whatever row they are of. A group's end and a
/// row's are both guessed wrong where rows have three, four or five entries; this loop has one end.
///
///     for i in begin .. end {
///       let o: index = (i * n_k)
///       for pj in B_pos1[i] .. B_pos1[(i + 1)] { (in groups, and a rest) } }
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
///           (in groups, and a rest) } }
///       if (few == 0) { for i in c .. last { as before } } }
///
/// `rows` has a byte for each entry. Of the bodies that store values alone, after jam() and
/// add_values_alone(): the statements are done in the same order. docs/notes/performance.md, section 46.
loop_ir::Kernel join_short_rows(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

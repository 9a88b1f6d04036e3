#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Replaces the intersection with a list that stays the same in a loop by look-ups in a table of that list.
///
///     for pj in B_pos1[i] .. B_pos1[(i + 1)] {
///       let j: index = B_crd1[pj]
///       merge k at pk over C_crd1 in C_pos1[j] .. C_pos1[(j + 1)],
///             pk_2 over D_crd1 in D_pos1[i] .. D_pos1[(i + 1)] { ... } }
///
/// becomes, for lists of D that are neither empty nor long,
///
///     for p in first .. last { table[D_crd1[p] mod 4096] = ((p - first) + 1) }
///     for pj in B_pos1[i] .. B_pos1[(i + 1)] {
///       let j: index = B_crd1[pj]
///       for pk in C_pos1[j] .. C_pos1[(j + 1)] {
///         let k: index = C_crd1[pk]
///         let slot = table[k mod 4096]
///         if slot { ... } } }
///     for p in first .. last { table[D_crd1[p] mod 4096] = 0 }
///
/// A slot tells which coordinate to look at first; where another one has taken the slot, the list is
/// searched. The table has one size whatever the extents, so schedules need no more memory than they say.
/// A merge mispredicts each advance; most look-ups find nothing. docs/performance/results.md.
loop_ir::Kernel probe_lists(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

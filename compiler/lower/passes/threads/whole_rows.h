#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/lower/analysis/names.h"

namespace schaas::lower {

/// Stores the sums of rows that lie whole in a thread's range of entries, which no other thread adds to. Only
/// the first and the last row of a range are added to atomically (compare the carry-out of merge-based SpMV:
/// Merrill and Garland, SC 2016).
///
///     for pj in max(p, begin) .. min(q, end) cut entries of A_crd1 { t += ... }
///     atomic C[i] += t     ->     let whole: index = and((begin <= p), (q <= end))
///                                 if whole { C[i] = t }
///                                 if (whole == 0) { atomic C[i] += t }
///
/// Applies where only atomic stores follow the loop in its block.
loop_ir::Kernel store_whole_rows(loop_ir::Kernel kernel, Names& names);

}  // namespace schaas::lower

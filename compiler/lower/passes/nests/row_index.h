#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Marks matrices in coo whose rows are looked for in loops over all rows. A phase of its own then finds
/// where each row begins, and the matrix is read as csr.
///
///     merge any i in begin .. end at pi until o present has over B_crd0 in ... { ... }
///
/// becomes
///
///     for p in B_pos0[0] .. B_pos0[1] { B_pos1[(B_crd0[p] + 1)] = (p + 1) }
///     counter last = 0
///     for i in 0 .. n_i { set last = max(last, B_pos1[(i + 1)]); B_pos1[(i + 1)] = last }
///     for i in begin .. end { ... }
///
/// Passes that know rows then apply, and rows of the result are appended. Loops over the stored rows alone
/// stay. Returns true where it changed the tree.
bool index_rows(NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include "compiler/concrete_notation/nodes.h"

namespace schaas::schedule {

/// Gives every temporary the index order of the loops around the assignment that reads it. The tree then
/// depends on its loops and factors alone, not on the directives; `apply` runs it last. Lowering chooses
/// memory layouts. The tree must be verified.
concrete_notation::StatementPtr lay_out_temporaries(const concrete_notation::StatementPtr& tree);

}  // namespace schaas::schedule

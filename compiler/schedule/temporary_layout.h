#pragma once
#include "compiler/concrete_notation/nodes.h"

namespace schaas::schedule {

/// Gives every temporary the index order of the loops around the assignment that reads it. Makes the tree a
/// function of its loops and factors alone, whatever directives led to it; `apply` runs it last. (How a
/// temporary lies in memory is for lowering to choose.) The tree must be verified.
concrete_notation::StatementPtr lay_out_temporaries(const concrete_notation::StatementPtr& tree);

}  // namespace schaas::schedule

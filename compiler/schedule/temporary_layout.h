#pragma once
#include "compiler/concrete_notation/nodes.h"

namespace schaas::schedule {

/// Gives every temporary the index order of the loops around the assignment that reads it, so that its
/// innermost loop walks the temporary contiguously. Makes the tree a function of its loops and factors alone,
/// whatever directives led to it; `apply` runs it last. The tree must be verified.
concrete_notation::StatementPtr lay_out_temporaries(const concrete_notation::StatementPtr& tree);

}  // namespace schaas::schedule

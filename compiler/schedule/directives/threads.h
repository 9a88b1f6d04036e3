#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Maps a loop to threads of a GPU. Errors: invalid [illegal-directive]: no iterations or threads, or no such
/// loop.
support::Result<concrete_notation::StatementPtr> apply_threads(const concrete_notation::StatementPtr& tree,
                                                               const Threads& directive);

}  // namespace schaas::schedule

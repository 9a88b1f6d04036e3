#pragma once
#include <functional>
#include <string>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Errors: invalid [illegal-directive]: the section has no such loop, or not above `loop` an `outer`; a
/// factor below 2.
support::Result<concrete_notation::StatementPtr> apply_split(const concrete_notation::StatementPtr& tree,
                                                             const Split& directive);

/// Moves the loops of the section at `path` from `outer` (or `loop`) on into the result of `around`.
support::Result<concrete_notation::StatementPtr> with_blocks(
    const concrete_notation::StatementPtr& tree, const Path& path, const std::string& loop,
    const std::string& outer,
    const std::function<concrete_notation::StatementPtr(concrete_notation::StatementPtr)>& around);

}  // namespace schaas::schedule

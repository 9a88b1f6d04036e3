#pragma once
#include <functional>
#include <string>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// `tree` with the manner of one of the section's own loops as `changed` makes it; blocks of the index are no
/// loop. Errors: invalid [illegal-directive]: the path leads nowhere, or the section has no such loop.
support::Result<concrete_notation::StatementPtr> with_manner(
    const concrete_notation::StatementPtr& tree, const Path& path, const std::string& loop,
    const std::function<void(concrete_notation::Manner&)>& changed);

}  // namespace schaas::schedule

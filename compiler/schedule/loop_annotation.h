#pragma once
#include <functional>
#include <string>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/result.h"

namespace schaas::schedule {

/// Changes the annotation of one of the section's own loops; blocks of the index are no loop. Errors: invalid
/// [illegal-directive]: the path leads nowhere, or the section has no such loop.
support::Result<concrete_notation::StatementPtr> with_annotation(
    const concrete_notation::StatementPtr& tree, const Path& path, const std::string& loop,
    const std::function<void(concrete_notation::LoopAnnotation&)>& changed);

}  // namespace schaas::schedule

#pragma once
#include <functional>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// Replaces each For of the statement by `loop` of it, in blocks and branches, but not inside another For or
/// a Merge.
StatementPtr map_loops(const StatementPtr& statement, const std::function<StatementPtr(const For&)>& loop);

}  // namespace schaas::loop_ir

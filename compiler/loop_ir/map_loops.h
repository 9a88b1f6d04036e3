#pragma once
#include <functional>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// The statement with what `loop` makes of each For that stands in it, in blocks and branches, but not inside
/// of another For or a Merge.
StatementPtr map_loops(const StatementPtr& statement, const std::function<StatementPtr(const For&)>& loop);

}  // namespace schaas::loop_ir

#pragma once
#include <functional>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// Replaces the expressions of a statement that computes values (Let, Accumulate, Store, GroupStore, Defer);
/// others stay as they are.
StatementPtr map_expressions(const StatementPtr& statement,
                             const std::function<ExpressionPtr(const ExpressionPtr&)>& map);

}  // namespace schaas::loop_ir

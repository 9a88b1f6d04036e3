#include "compiler/loop_ir/map_loops.h"

#include "compiler/loop_ir/traversal.h"

// Stops at the outermost loops: `loop` decides about those inside. Merges are left alone, with all they
// contain.
namespace schaas::loop_ir {

StatementPtr map_loops(const StatementPtr& statement, const std::function<StatementPtr(const For&)>& loop) {
  if (const auto* found = as<For>(statement)) return loop(*found);
  if (as<Merge>(statement) != nullptr) return statement;
  return map_children(statement, [&](const StatementPtr& each) { return map_loops(each, loop); });
}

}  // namespace schaas::loop_ir

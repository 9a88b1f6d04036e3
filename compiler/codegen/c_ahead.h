#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"

namespace schaas::codegen {

/// What a loop with For::ahead gathers in a turn.
struct Gathered {
  std::string coordinates;            ///< the array that the loop's variable is a position of
  std::vector<loop_ir::Let> indices;  ///< the coordinate, and what is computed of it, in order
  std::vector<loop_ir::Load> loads;   ///< of values, at these
};
Gathered gathered(const loop_ir::For& loop);
/// The arrays that loops in `statement` ask for ahead.
std::set<std::string> asked_ahead(const loop_ir::StatementPtr& statement);

}  // namespace schaas::codegen

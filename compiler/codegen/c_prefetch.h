#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"

namespace schaas::codegen {

/// Loads that one iteration of a loop with For::prefetch_distance gathers.
struct Gathered {
  std::string coordinates;            ///< array indexed by the loop's variable
  std::vector<loop_ir::Let> indices;  ///< the coordinate and indices computed from it, in order
  std::vector<loop_ir::Load> loads;   ///< loads of values at these indices
};
Gathered gathered(const loop_ir::For& loop);
/// Returns the arrays that loops in `statement` prefetch.
std::set<std::string> prefetched_arrays(const loop_ir::StatementPtr& statement);

}  // namespace schaas::codegen

#pragma once
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// On any path from the root to a leaf that contains both loops, `before` must be outside `after`.
struct LoopOrder {
  std::string before;
  std::string after;
  std::string reason;  ///< for messages: "`B(i,j)` is stored dense,compressed:0,1"
};

/// What one access to a tensor of the problem demands (format::access_order, in index names). A temporary is
/// dense and demands nothing. SparseAuto section 2.3.
std::vector<LoopOrder> loop_order(const index_notation::Access& access, const problem::Problem& problem);

/// What appending to the result in order demands of loops: its own access order, and its levels in order down
/// to the last compressed one. Nothing for a dense result.
std::vector<LoopOrder> result_level_order(const problem::Problem& problem);

/// What the result demands of the path that ends in its assignment: its own access order and, because a
/// compressed level is appended to in order and once, its levels in order down to the last compressed one and
/// every summed index below that one.
std::vector<LoopOrder> result_loop_order(const problem::Problem& problem);

}  // namespace schaas::concrete_notation

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

/// Returns the loop orders that one access to a tensor of the problem demands (format::access_order, in index
/// names); none for a temporary, which is dense. SparseAuto section 2.3.
std::vector<LoopOrder> loop_order(const index_notation::Access& access, const problem::Problem& problem);

/// Returns the loop orders that appending to the result demands: its access order, and its levels in order
/// down to the last compressed one. None for a dense result.
std::vector<LoopOrder> result_level_order(const problem::Problem& problem);

/// Returns the loop orders that the result demands on the path to its assignment. A compressed level is
/// appended to in order and once; the levels come in order down to the last compressed one, and every summed
/// index below it.
std::vector<LoopOrder> result_loop_order(const problem::Problem& problem);

/// Tells whether the access has a sparse level over the index. None of a temporary, which is dense, has.
bool is_walked(const index_notation::Access& access, const std::string& index,
               const problem::Problem& problem);

}  // namespace schaas::concrete_notation

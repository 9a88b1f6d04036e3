#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::lower {

/// A loop over the entries of a row, each of which is marked and added to a workspace at its coordinate:
///
///     for pk in B_pos1[j] .. B_pos1[(j + 1)] {
///       let k: index = B_crd1[pk]
///       (a mark at k)
///       w[k] += (v * B[pk]) }
struct RowWalk {
  std::string coordinates;         ///< their array
  std::set<std::string> declared;  ///< the loop's variable and the names of the coordinate
  const loop_ir::Store* sum = nullptr;
};

/// The loop as such, where it does nothing else. `mark` gives the place that a statement marks, or null where
/// it is no mark of the workspace. What is found points into the loop.
std::optional<RowWalk> row_walk(
    const loop_ir::For& loop,
    const std::function<const loop_ir::Expression*(const loop_ir::StatementPtr&)>& mark);

}  // namespace schaas::lower

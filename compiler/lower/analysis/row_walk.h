#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::lower {

/// A loop over the entries of a row that occupies each coordinate of a workspace and adds to it:
///
///     for pk in B_pos1[j] .. B_pos1[(j + 1)] {
///       let k: index = B_crd1[pk]
///       (occupy k)
///       w[k] += (v * B[pk]) }
struct RowWalk {
  std::string coordinates;         ///< array of coordinates
  std::set<std::string> declared;  ///< the loop's variable and the names of the coordinate
  const loop_ir::Store* sum = nullptr;
};

/// Returns the walk when the loop does nothing else, with pointers into the loop. `occupy` returns the index
/// that a statement occupies, or null for other statements.
std::optional<RowWalk> row_walk(
    const loop_ir::For& loop,
    const std::function<const loop_ir::Expression*(const loop_ir::StatementPtr&)>& occupy);

}  // namespace schaas::lower

#pragma once
#include <vector>

namespace schaas::concrete_notation {

/// Code that lowering makes of a leaf of a tree (lower/description.h), for cost models. Loops are numbered as
/// they stand around the leaf, outermost first.
struct LeafCode {
  int tile_loop = 0;  ///< loop that is unrolled and jammed
  int tile = 0;       ///< iterations of that loop in a register tile; 0: no loop is jammed
  /// Loops right above the innermost one that run while the target's row along it stays in registers.
  int kept = 0;
  std::vector<int> lengths{};     ///< trips of the innermost loop with code of their own, ascending
  bool streams = false;           ///< the result may be written with streaming stores
  bool numeric = false;           ///< values may be computed for a structure that is kept
  bool row_in_registers = false;  ///< rows of the target, while short, stay in registers over the loop around
  bool operator==(const LeafCode&) const = default;
};

}  // namespace schaas::concrete_notation

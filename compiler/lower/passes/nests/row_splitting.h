#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Decides for each phase whether an iteration may be split along the entries of the level that balances it
/// (NestTree::row_splits). Either the loop over that level stands around the whole iteration, or the
/// iteration is linear in the walked operand, so partial results add up. Where they share elements they get a
/// carry-out tensor. Carry-out values as in merge-based SpMV (Merrill and Garland, SC 2016). Returns
/// true where an iteration may be split.
bool split_rows(NestTree& tree);

}  // namespace schaas::lower

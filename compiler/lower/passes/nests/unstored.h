#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Marks reductions over a sparse level whose unstored elements share one value that the reduction does not
/// ignore but counts once. An example is the 0 of `y(i) = max(j)(B(i,j))`. Their loop walks stored
/// coordinates, then folds that value if there are fewer of them than the extent. Applies to min, max, and,
/// or, and a product of zeros, in the innermost loop of a phase inside another loop. Returns
/// true where it changed the tree.
bool count_unstored(NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include "compiler/lower/nest.h"

namespace schaas::lower {

/// Marks reductions over a sparse level whose unstored elements all have one value that the reduction does not
/// ignore, but that counts once however often it comes: the 0 of `y(i) = max(j)(B(i,j))`. Their loop walks
/// what is stored, and folds that value afterwards if there were fewer coordinates than the extent has.
/// For min, max, and, or, and a product of zeros; in the innermost loop of a phase, inside of another one.
void count_unstored(NestTree& tree);

}  // namespace schaas::lower

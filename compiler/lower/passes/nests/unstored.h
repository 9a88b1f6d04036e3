#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Marks reductions whose unstored elements share one value that the reduction does not ignore. Examples are
/// the 0 of `y(i) = max(j)(B(i,j))` and the exp(-m(i)) of `y(i) = sum(j)(exp(B(i,j) - m(i)))`. Their loop
/// walks stored coordinates. Then, if there are fewer of them than the extent, it folds that value once, or
/// adds it times their number. Without a list nothing is walked. Applies to sums, min, max, and, or, and a
/// product of zeros, in the innermost loops of a phase inside another loop. Of several, `max(j,k)(T(i,j,k))`,
/// a coordinate of an outer one that is not stored stands for all of those inside. Returns true where it
/// changed the tree.
bool count_unstored(NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::concrete_notation {

/// The temporary that the branch passes is a masked intermediate (problem/masks.h). Its producer writes every
/// element at an entry of the mask, once. It needs no start value, as other elements are not read. Loops over
/// its indices come first, and no other operand of the definition has a sparse level for an index of the
/// mask. So none leaves an entry out.
bool writes_whole_mask(const Where& branch, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

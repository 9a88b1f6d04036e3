#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Checks blocks below `loops`, of a contraction or a program. Every path to an assignment passes a loop over
/// the index; operands below that store only some of its values bind it once, below levels whose loops stand
/// outside. Errors: invalid [illegal-tree].
support::Result<void> check_blocks(const Blocks& blocks, const std::vector<std::string>& loops,
                                   const problem::Problem& problem);

}  // namespace schaas::concrete_notation

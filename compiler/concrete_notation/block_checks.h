#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Blocks below `loops`, of a contraction or a program: every way to an assignment passes a loop over the
/// index; the operands below that store some of its values only do so once for each, and below levels whose
/// loops stand outside. Errors: invalid [illegal-tree].
support::Result<void> check_blocks(const Blocks& blocks, const std::vector<std::string>& loops,
                                   const problem::Problem& problem);

}  // namespace schaas::concrete_notation

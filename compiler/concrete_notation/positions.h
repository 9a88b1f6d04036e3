#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Loops that are one loop over the entries of a sparse operand (LoopAnnotation::positions).
namespace schaas::concrete_notation {

/// Returns these loops, outermost first; fewer than annotated when something else stands between them.
std::vector<std::string> loops_of_positions(const Forall& loop);

/// Checks that the loops stand directly inside each other and walk the first levels of one operand, and that
/// no other operand extends them. Their target is dense, and their value is zero where the operand stores
/// nothing. Errors: invalid [illegal-tree].
support::Result<void> check_positions(const Forall& loop, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

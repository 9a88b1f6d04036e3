#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Loops that are one loop over the entries of a sparse operand (Manner::positions).
namespace schaas::concrete_notation {

/// These loops, outermost first; fewer than the manner says when something else stands between them.
std::vector<std::string> loops_of_positions(const Forall& loop);

/// The loops stand directly inside each other and walk the first levels of one operand, which nothing else
/// makes run further; what they compute is zero where it stores nothing, and is dense. Errors: invalid
/// [illegal-tree].
support::Result<void> check_positions(const Forall& loop, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

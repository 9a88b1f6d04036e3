#pragma once
#include <cstddef>
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// The branch whose temporary is the workspace of a sparse result (schedule/ordered_appends.h).
namespace schaas::concrete_notation {

/// Returns the number of the workspace's first levels that distinguish entries of the result, down to its
/// last sparse level. Nothing for other branches.
std::optional<std::size_t> workspace_levels(const Where& branch, const problem::Problem& problem);

/// The producer adds terms element by element: nothing is summed below it.
bool adds_terms(const StatementPtr& producer);

/// Checks that a hash table may replace the workspace's array: it is inside a loop, and one index
/// distinguishes its entries. Errors: invalid [illegal-tree].
support::Result<void> check_hashed(const Where& branch, bool inside_loop, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

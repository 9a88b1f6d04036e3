#pragma once
#include <cstddef>
#include <optional>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// The branch that gathers a sparse result (schedule/ordered_appends.h).
namespace schaas::concrete_notation {

/// What gathers: how many of the temporary's levels, from its first, tell the entries of the result apart:
/// those down to the result's last sparse level. Nothing of other branches.
std::optional<std::size_t> gathered_levels(const Where& branch, const problem::Problem& problem);

/// A hash table may take the place of the temporary's array: it gathers, inside a loop, entries that one
/// index tells apart. Errors: invalid [illegal-tree].
support::Result<void> check_hashed(const Where& branch, bool inside_loop, const problem::Problem& problem);

}  // namespace schaas::concrete_notation

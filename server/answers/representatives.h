#pragma once
#include <cstddef>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/problem.h"

namespace schaas::server {

/// Chooses at most `limit` survivors to compile, most wanted first, all different. The fastest at a middle
/// point comes first, then the least memory. The fastest at points around the middle follow, then an even
/// spread of the rest. The points vary dense extents, nonzeros per row and room for temporaries, within the
/// problem's bounds. Returns indices into frontier.survivors.
std::vector<std::size_t> representatives(const frontier::Frontier& frontier, const problem::Problem& problem,
                                         std::size_t limit);

}  // namespace schaas::server

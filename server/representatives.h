#pragma once
#include <cstddef>
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/problem/problem.h"

namespace schaas::server {

/// Which survivors are worth a kernel when at most `limit` are compiled: always the least memory (the first)
/// and the fastest at a middling point, then the fastest at points around it (small and large dense extents,
/// rows with one and with many nonzeros, with and without room for large temporaries), each within the
/// problem's own bounds, then an even spread of the rest. Positions in frontier.survivors, most wanted first,
/// all different.
std::vector<std::size_t> representatives(const frontier::Frontier& frontier, const problem::Problem& problem,
                                         std::size_t limit);

}  // namespace schaas::server

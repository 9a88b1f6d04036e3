#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"

namespace schaas::problem {

/// The largest value each extent and nonzero count can take, as far as the constraints and the formats prove
/// it: `x <= 100`, products of extents, `1000*nnz(B,2) <= i*j` with bounded i and j, and so on, carried on
/// until nothing gets smaller. A symbol that is missing is unbounded. Sound: never below a value the
/// constraints allow. Of a packed tensor it is known that every stored coordinate of a compressed level leads
/// to a stored value.
std::map<Symbol, std::int64_t> upper_bounds(const Problem& problem);

/// Returns the width "auto" stands for, 32 or 64. It is 32 when some tensor has a compressed level and all
/// sizes are proved to be below 2^31. The sizes are extents and stored entries of such tensors, and extents
/// of intermediates, whose coordinates may be listed.
int narrowest_position_bits(const Problem& problem);

}  // namespace schaas::problem

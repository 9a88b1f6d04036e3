#pragma once
#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// Tells whether every schedule of a frontier takes time or memory near the product of two extents, at the
/// sizes of SparsePoint. Then copies of operands may be far better, so
/// the search looks for schedules with them as well. It never removes a schedule.
bool walks_all_elements(const Frontier& found, const problem::Problem& problem);

}  // namespace schaas::frontier

#pragma once
#include "compiler/frontier/frontier.h"

namespace schaas::frontier {

/// Tells whether every schedule of a frontier takes time or memory near the product of two extents, where
/// sparse operands of 100,000 rows hold five entries in each. Then copies of operands may be far better: the
/// search looks for schedules with them as well. It never removes a schedule.
bool walks_all_elements(const Frontier& found, const problem::Problem& problem);

}  // namespace schaas::frontier

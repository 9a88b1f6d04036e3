#pragma once
#include <set>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// What several neighbouring iterations of a loop may compute side by side, one register lane each. `varying`
/// holds the loop variable and every name whose value differs from lane to lane.

/// `variable` or `invariant + variable`: neighbouring lanes touch neighbouring elements.
bool is_lane_index(const ExpressionPtr& index, const std::string& variable,
                   const std::set<std::string>& varying);

/// Made of numbers, names and sums and products of them; every load that varies does so at a lane index.
bool is_lane_value(const ExpressionPtr& value, const std::string& variable,
                   const std::set<std::string>& varying);

}  // namespace schaas::loop_ir

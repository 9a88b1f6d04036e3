#pragma once
#include <set>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// Expressions that adjacent iterations of a loop may compute together, one register lane each. `varying`
/// holds the loop variable and every name whose value differs from lane to lane.

/// The index is `variable` or `invariant + variable`: adjacent lanes access adjacent elements.
bool is_vector_index(const ExpressionPtr& index, const std::string& variable,
                     const std::set<std::string>& varying);

/// The value consists of numbers, names, sums and products; every load that varies has a vector index.
bool is_vector_value(const ExpressionPtr& value, const std::string& variable,
                     const std::set<std::string>& varying);

}  // namespace schaas::loop_ir

#pragma once
#include <map>
#include <string>
#include <vector>

#include "schaas/expression.h"

namespace schaas::client {

/// Indices that occur and are not bound by a reduction inside, in order of first appearance.
std::vector<std::string> free_indices(const Expression& expression);

/// Returns the right side with its implied sums written out. An index that is not on the left is summed, with
/// `sum`, over each outermost additive term that has it. Terms are joined by +, - and unary minus.
Expression with_sums(const Statement& statement, Fold sum);

/// The expression with indices renamed; those bound inside too when they are in the map.
Expression renamed(const Expression& expression, const std::map<std::string, std::string>& names);

/// Indices bound by reductions inside.
std::vector<std::string> bound_indices(const Expression& expression);

}  // namespace schaas::client

#pragma once
#include <string>
#include <vector>

#include "schaas/expression.h"

namespace schaas::client {

/// Returns the right side with its implied sums written out. An index that is not on the left is summed, with
/// `sum`, over each outermost additive term that has it. Terms are joined by +, - and unary minus.
Expression with_sums(const Statement& statement, Monoid sum);

/// Indices bound by reductions inside.
std::vector<std::string> bound_indices(const Expression& expression);

}  // namespace schaas::client

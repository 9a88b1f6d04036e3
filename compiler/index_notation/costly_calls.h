#pragma once
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/index_notation/rename.h"

namespace schaas::index_notation {

/// The expression is a call that costs far more than a multiplication: exp, log, sin, ..., not pow(x, 2).
bool is_costly_call(const Expression& value);

/// Such calls in an expression, once per occurrence, in the order of the text. They point into `value`.
std::vector<const Expression*> costly_calls(const Expression& value);

/// Defines an intermediate for each costly call (operators::is_costly) that stands in several statements, as
/// long as the program has room for statements. It stands before the first of them:
///
///     E(i,j) = B(i,j) * exp(T(i,j)); D(i,j) = F(i,j) * exp(T(i,j))
///     P(i,j) = exp(T(i,j)); E(i,j) = B(i,j) * P(i,j); D(i,j) = F(i,j) * P(i,j)
///
/// The schedule then may compute it once, where the readers need it. Calls hold no reduction.
void share_costly_calls(std::vector<Assignment>& statements, FreshNames& names);

}  // namespace schaas::index_notation

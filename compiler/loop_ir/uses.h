#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// Names and arrays that occur in an expression or statement, bound inside or not.
struct Uses {
  std::set<std::string> names;
  std::set<std::string> arrays;
};
void collect_uses(const ExpressionPtr& expression, Uses& uses);
void collect_uses(const StatementPtr& statement, Uses& uses);

/// Collects the names that a statement, or one inside, declares: loop variables and cursors included.
void collect_declared(const StatementPtr& statement, std::set<std::string>& names);

/// Returns the statements of a block without lets that no later statement uses.
std::vector<StatementPtr> without_unused_lets(const std::vector<StatementPtr>& statements);

/// The expression mentions one of `names`.
bool mentions(const ExpressionPtr& expression, const std::set<std::string>& names);

}  // namespace schaas::loop_ir

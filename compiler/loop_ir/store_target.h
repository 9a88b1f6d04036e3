#pragma once
#include <optional>
#include <string>

#include "compiler/loop_ir/nodes.h"

namespace schaas::loop_ir {

/// The element that a store, or the store of a group of threads, writes, and its mode.
struct StoreTarget {
  std::string array;
  ExpressionPtr index;
  Write mode = Write::set;
  operators::Monoid monoid = operators::Monoid::sum;
  int width = 0;  ///< threads of the group; 0: a thread writes by itself
  int wide = 1;
};

/// Returns the target; none of other statements.
std::optional<StoreTarget> store_target(const StatementPtr& statement);

/// Two writes differ in their index at most, and in how many elements they take at once.
bool write_alike(const StoreTarget& one, const StoreTarget& other);

}  // namespace schaas::loop_ir

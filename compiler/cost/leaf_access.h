#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/access.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/linear_form.h"
#include "compiler/problem/problem.h"

namespace schaas::cost {

/// The number of an index among the extents.
int number_of(const Variables& variables, const std::string& index);

/// Loops above a leaf that its class depends on, by number.
struct LoopsAbove {
  std::vector<int> own{};  ///< those below the innermost branch, outermost first
  bool phase = true;       ///< no loop is above that branch
  int shared = -1;         ///< the innermost one above that branch; -1: there is none
  std::map<std::string, problem::LinearForm> determined{};  ///< values of loops that have one, by index
};

/// The access class of an assignment of a tree. Without loops of its own a leaf's elements come and go with
/// the innermost shared loop; that of a contraction is taken to move nothing, since its space tells no orders
/// of shared loops apart. A temporary is taken to be laid out so that the innermost loop of either side finds
/// its elements side by side.
Access access_class(const concrete_notation::Assign& leaf, const LoopsAbove& loops,
                    const problem::Problem& problem, const Variables& variables);

}  // namespace schaas::cost

#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/loop_order.h"
#include "compiler/concrete_notation/nodes.h"
#include "compiler/index_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

/// Checks shared by the verifiers of contractions and of programs. `loops`: those above, outermost first.
namespace schaas::concrete_notation {

support::Diagnostic illegal(std::string message);  ///< invalid [illegal-tree]
std::string quoted(const std::string& name);
std::string quoted(const index_notation::Access& access);

/// Returns the loop directly inside, or null.
const Forall* inner_of(const Forall& loop);

/// Every index of the access is one of the loops.
support::Result<void> check_bound(const index_notation::Access& access,
                                  const std::vector<std::string>& loops);
/// Every index whose coordinate the value takes as a number is one of the loops.
support::Result<void> check_coordinates(const index_notation::Expression& value,
                                        const std::vector<std::string>& loops);
/// The loops among `loops` keep the orders.
support::Result<void> check_order(const std::vector<LoopOrder>& orders,
                                  const std::vector<std::string>& loops);

/// Returns the level of the access that stores only some values of the index; -1: none.
int sparse_level(const index_notation::Access& access, const std::string& index,
                 const problem::Problem& problem);

}  // namespace schaas::concrete_notation

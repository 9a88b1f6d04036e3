#pragma once
#include <cstddef>
#include <functional>

#include "compiler/frontier/frontier.h"
#include "compiler/space/listed/listed_members.h"

namespace schaas::frontier {

/// The frontier of a contraction.
using ComputeContraction = std::function<support::Result<Frontier>(const problem::Problem&)>;

/// Limits of the schedules that are added for a product.
struct Splits {
  std::size_t bases = 24;   ///< schedules of the program that are completed
  std::size_t entries = 8;  ///< entries of the product's frontier
  bool chains = false;      ///< besides, the greedy chain of each product (greedy_chain.h)
};

/// Adds schedules to the listed ones of a program. In them, sums of products of three factors or more are
/// split as on the frontier of the product alone. Their nests share no loops. So its workspaces make the
/// nest as cheap as a statement of its own. All traces begin with the same copies and masks, which make
/// `problem` of `asked`. When the budget ends, or the search of a product, the schedules found by then are
/// there and `limited` tells so. Products that were not searched have their greedy chain. Errors: exhausted
/// (cancelled).
support::Result<void> add_split_products(space::ListedMembers& members, const problem::Problem& asked,
                                         const problem::Problem& problem,
                                         const ComputeContraction& contraction, const Splits& limits,
                                         const support::Cancellation& budget,
                                         const support::Cancellation& cancellation);

}  // namespace schaas::frontier

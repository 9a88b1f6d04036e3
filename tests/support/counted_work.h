#pragma once
#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"
#include "tests/support/random_tensor.h"

/// Runs loop trees of products without computing anything, to count what their loops do. Takes from the cost
/// model the weights of access classes alone, so that costs can be held against counts.
namespace schaas::test_support {

/// Iterations of one run.
struct CountedWork {
  double leaves = 0;   ///< of the innermost loops, by the weight of their access class
  double steps = 0;    ///< of merges of several compressed levels
  double cleared = 0;  ///< elements of temporaries
  double copied = 0;   ///< entries of operands that are stored once more
  double total() const {
    return leaves + steps * cost::weight(cost::Access::merged) + cleared +
           copied * cost::weight(cost::Access::copied);
  }
};

/// `tree`: of a product with a dense result whose operands have dense and compressed levels, without masks
/// and blocks; `problem`: with the copies that the tree reads. A loop visits the coordinates that all
/// compressed levels with its index hold; several of them are walked by a merge that ends with the first list
/// that ends.
CountedWork counted_work(const concrete_notation::StatementPtr& tree, const problem::Problem& problem,
                         const RandomInput& input);

/// The value of each variable for the input: averages over all coordinates that lead to the lists.
cost::Point counted_point(const problem::Problem& problem, const RandomInput& input);

}  // namespace schaas::test_support

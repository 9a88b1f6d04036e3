#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

/// Accesses of the leaves of a tree, loop by loop. With the cost they tell how much moves
/// through caches at real sizes (docs/cost_model.md, "At real sizes").
namespace schaas::cost {

struct NestLoop {
  Term trips = 0;  ///< the variable it counts; of a loop over blocks, and of one inside a block, the whole's
  std::string index;
  int block = 0;            ///< values in a block; 0: the loop is not cut into blocks
  bool inside = false;      ///< loop over the values of a block; else over the blocks
  std::uint32_t under = 0;  ///< a fiber's: bit n: loops[n] decides which coordinates are met
};

struct NestAccess {
  std::string tensor;
  bool sparse = false;                ///< an operand with compressed levels
  std::uint32_t loops = 0;            ///< bit n: loops[n] moves it
  std::uint32_t unit = 0;             ///< those of `loops` that move it to the next element
  std::vector<std::uint32_t> sums{};  ///< sets of loops whose coordinates add up to one of the tensor's
  bool table = false;                 ///< a temporary that is a hash table
};

/// An assignment with all loops above it, outermost first.
struct LeafNest {
  std::vector<NestLoop> loops;
  std::vector<NestAccess> accesses;  ///< the target first; each operand once
  std::size_t shared = 0;            ///< the first so many loops are the nest's before, too
  bool serial = false;               ///< its phase runs on one thread
  Access access = Access::contiguous;
  std::size_t leaf = 0;  ///< number of the assignment among those of the tree, in the order in which they run
};

/// Returns the nests of a verified tree in the order in which they run, with the access classes of the
/// default profile. The consumer of a branch that gathers a sparse result has none. Where what a loop counts
/// differs from point to point (unions), its first sparse operand counts.
std::vector<LeafNest> leaf_nests(const concrete_notation::StatementPtr& statement,
                                 const problem::Problem& problem);

}  // namespace schaas::cost

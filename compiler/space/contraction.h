#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/cost/access.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"

/// A product as bit masks: what the recursion needs to know of a problem.
namespace schaas::space {

/// A set of indices: bit x stands for index_variables(statement)[x].
using IndexSet = std::uint32_t;
constexpr int max_indices = 16;
constexpr int max_operands = 8;

/// before[x]: the indices whose loops must be outside the loop of x.
using Precedence = std::array<IndexSet, max_indices>;

/// One access of the problem.
struct AccessShape {
  IndexSet indices = 0;
  Precedence before{};                            ///< transitively closed
  std::array<cost::Touch, max_indices> touch{};   ///< by the innermost loop
  std::array<cost::Term, max_indices> fiber{};    ///< the variable of a compressed level, else 0
  std::array<cost::ListSet, max_indices> list{};  ///< its list, where loops may merge it with another one
  std::array<IndexSet, max_indices>
      stored_before{};    ///< indices at earlier storage levels (order of preference)
  IndexSet repeated = 0;  ///< indices whose levels hold a coordinate several times: they have no blocks
  bool operator==(const AccessShape&) const = default;
};

struct Contraction {
  std::vector<std::string> indices;
  std::vector<AccessShape> operands;
  AccessShape result;
  IndexSet all = 0;             ///< the indices of the operands
  problem::SpaceOptions wider;  ///< options searched beyond the plain space
  cost::Variables variables;
  cost::Term located = 0;      ///< fibers of levels that are located wherever another list is walked
  bool access_classes = true;  ///< false under Profile::sparseauto: every leaf counts as contiguous
};

/// `problem` within the limits of support/limits.h. A sparse result orders its levels and comes before every
/// reduction index with its last compressed level (docs/schedule_space.md, Members).
Contraction contraction_of(const problem::Problem& problem);

/// Facts of several accesses below the same loops, together.
struct Context {
  Precedence before{};
  /// The variable a loop counts: the matches of the lists it merges, a fiber, else the extent.
  std::array<cost::Term, max_indices> trips{};
  std::array<cost::Term, max_indices> steps{};  ///< steps of the merge that a loop is; 0: it merges nothing
  IndexSet merges = 0;                          ///< the loops that merge lists
};
/// `result`: null where the problem's result is not computed. Of several fibers of one index that no
/// intersection stands for, the first counts.
Context context_of(const Contraction& contraction, const std::vector<const AccessShape*>& operands,
                   const AccessShape* result);
/// The loops of a term's variables.
IndexSet loops_of(const Contraction& contraction, cost::Term term);

/// The product of the loops' variables.
cost::Term trips_of(const Context& context, IndexSet loops);
/// The product of the loops' extents.
cost::Term extents_of(IndexSet loops);

}  // namespace schaas::space

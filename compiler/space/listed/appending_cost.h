#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "compiler/cost/cost.h"
#include "compiler/schedule/replay/ordered_appends.h"
#include "compiler/space/member.h"

namespace schaas::space {

/// Costs of the schedules of a contraction with a sparse result, read off the members of the dense result's
/// space without making their trees. They are those of cost::of for the tree that schedule::apply completes
/// with a workspace (schedule/ordered_appends.h). Not for blocks. Not thread-safe.
class AppendingCosts {
 public:
  /// `recursion`: of the same problem with a dense result.
  AppendingCosts(Recursion& recursion, const problem::Problem& problem);

  cost::Cost of(const Member& root);
  /// Returns the cost of the member asked for last when what it gathers is in a hash table
  /// (schedule::WorkspaceStorage); nothing where none may be.
  std::optional<cost::Cost> with_table() const;

 private:
  /// Destination of the value of a part of a member.
  enum class Into { temporary, result, workspace };
  struct Position {
    cost::Term above = 0;  ///< the product of the loops above
    bool outermost = true;
    Into into = Into::temporary;
    std::size_t until = 0;  ///< into the result: loops before the workspace
  };
  void walk(const Member& member, const Position& position);
  void fused(const Member& member, Position position);
  void joined(const Member& member, const Position& position);
  /// The nest of the member's own loops: a linear one, or the combining one of `join`.
  void leaf(const Member& member, const Join* join, Position position);
  /// A workspace of the indices `missing` below the loops of `position`; what follows is computed into it.
  void gather(Position& position, const Context& context, IndexSet missing);
  /// The merges of loops in this order below `above`.
  void merge(const Context& context, const Order& order, cost::Term above);
  cost::Access access_of(const Member& member, const Join* join, Into into, std::span<const std::uint8_t> own,
                         bool outermost) const;
  /// The serial bit of a phase that begins with a loop of the member's.
  cost::Term serial(const Member& member, const Position& position) const;
  void path(const Member& member, std::vector<int>& loops) const;

  Recursion& recursion_;
  schedule::AppendRule rule_;
  std::vector<int> levels_;                              ///< by index: its level of the result, or -1
  std::array<cost::Touch, max_indices> result_touch_{};  ///< touch of the sparse result
  cost::Cost copies_;                                    ///< cost of copies, for all schedules alike
  cost::Cost cost_;
  std::vector<cost::Term> gathered_;  ///< the array that gathers, if there is one: its elements
  cost::Term around_ = 0;             ///< the product of the loops around it
  cost::Term listed_ = 0;             ///< trips of the leaf that fills it
  bool one_level_ = false;            ///< it gathers one level, inside a loop
  bool lists_ = false;  ///< as many entries are gathered as the last leaf has trips, not all elements
};

}  // namespace schaas::space

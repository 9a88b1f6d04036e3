#pragma once
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/space/member.h"

namespace schaas::space {

/// Makes the loop trees of a contraction's members without replaying their traces, in a tenth of the time.
/// They are the trees of the traces (member.h) but for the names of temporaries and the order of their
/// indices. Nothing is verified, and no workspace is added. Not for blocks.
class MemberTrees {
 public:
  MemberTrees(Recursion& recursion, const problem::Problem& problem);

  /// Returns the tree of a member of the root with this operand order, as trace_of writes it.
  concrete_notation::StatementPtr of(const Member& member, const std::vector<int>& operand_order,
                                     bool mirrored);

 private:
  using Accesses = std::vector<index_notation::Access>;
  /// A part of a member that computes `target`.
  struct Section {
    const Member& member;
    Accesses operands;  ///< in the order of the state's slots
    bool mirrored;      ///< they stand in the reverse order
    index_notation::Access target;
  };
  concrete_notation::StatementPtr tree(const Section& section);
  concrete_notation::StatementPtr fused(const Section& section);
  concrete_notation::StatementPtr joined(const Section& section);
  /// The loops around the product of the operands; `mirrored`: these stand in the reverse order.
  concrete_notation::StatementPtr nest(const Order& loops, Accesses operands, bool mirrored,
                                       const index_notation::Access& target) const;
  concrete_notation::StatementPtr below(const Order& loops, concrete_notation::StatementPtr body) const;
  index_notation::Access temporary(IndexSet indices);

  Recursion& recursion_;
  concrete_notation::Assign statement_;  ///< the whole product
  int temporaries_ = 0;                  ///< number in the present tree
};

}  // namespace schaas::space

#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"

namespace schaas::schedule {

/// The rule for loop orders that append to a sparse result in order. Its entries are those of its last sparse
/// level.
class AppendRule {
 public:
  /// `reads`: the operands of the tree; of a contraction all of them. The result has a compressed level.
  AppendRule(const problem::Problem& problem, const std::vector<index_notation::Access>& reads);

  /// Returns the result's indices in the order of its levels.
  const std::vector<std::string>& levels() const { return levels_; }
  /// Returns the level a loop is over; -1: it is summed.
  int level_of(const std::string& index) const;
  /// Returns the number of loops on the path to the result's assignment, outermost first and each by its
  /// level, that append in order. `in_terms`: further loops on the path that only some term of a sum has.
  /// Fewer than `needed()`: the missing levels need a temporary.
  std::size_t in_order(std::span<const int> loops, std::span<const int> in_terms = {}) const;
  /// Returns the number of levels up to the last compressed one.
  std::size_t needed() const { return summed_below_.size(); }

 private:
  std::vector<std::string> levels_;
  /// For each needed level: a sum may stand below it. A sparse level that no operand stores sparse would get
  /// an entry for every coordinate; right above another sparse level only nonempty entries are kept.
  std::vector<bool> summed_below_;
};

/// A result with compressed levels is appended to, entry after entry in the order of its levels. A tree with
/// loops in another order gets a temporary of the missing levels. So does one that would append an entry for
/// every coordinate of a dense loop only to sum below. The branch stands at the innermost depth that makes
/// the appends ordered: Gustavson's row of a sparse matrix product (Kjolstad et al., CGO 2019).
///     forall(i, forall(k, forall(j, A(i,j) += B(i,k) * C(k,j))))
///     forall(i, where(forall(j, A(i,j) += t1(j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j)))))
/// A sum that reads a temporary written at the entries of something sparse is distributed over its terms
/// before (distribute.h). The loops of its consumer would otherwise run, and append, over the whole extent.
///     forall(i, where(forall(j, A(i,j) += t1(j) + D(i,j)), forall(k, forall(j, t1(j) += B(i,k) * C(k,j)))))
///     forall(i, where(forall(j, A(i,j) += t2(j)), terms(forall(k, forall(j, t2(j) += B(i,k) * C(k,j))),
///                                                       forall(j, t2(j) += D(i,j)))))
/// Other trees, and those that run in blocks, are returned as they are.
concrete_notation::StatementPtr with_ordered_appends(const concrete_notation::StatementPtr& tree,
                                                     const problem::Problem& problem);

}  // namespace schaas::schedule

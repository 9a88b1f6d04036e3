#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "compiler/schedule/nests.h"
#include "compiler/space/listed/listed_members.h"

/// Entries of sparse results. A schedule appends where its loops run, and they run where operands and
/// temporaries are known to be stored. A temporary keeps the entries that were written only where it is a
/// vector inside a loop, or the result's own workspace (lower/emit/sparse_accumulators.cc); a matrix that a
/// phase leaves is read everywhere:
///     i<jk,k>    forall i: t(k) += B(i,j) * C(j,k), then A(i,k) += 2 * t(k)      entries of the product
///     <ijk,ik>   T(i,k) += B(i,j) * C(j,k) for all i, then A(i,k) += 2 * T(i,k)  all elements
/// Entries of a result are not to depend on the schedule, so a space holds those with the fewest.
namespace schaas::space {

struct ResultEntries {
  /// Points at which entries are appended: those where all operands of some set are stored. Operands as they
  /// are written, copies as their originals. "B(i,k) in part" is stored where B has any entry at the outer of
  /// its coordinates.
  std::vector<std::set<std::string>> points;
  bool filled = false;  ///< some sparse level below the first gets every coordinate
  bool operator==(const ResultEntries&) const = default;
};

/// Returns the entries of the result, sparse, that a tree appends; `nests`: its nests, with or without the
/// result's workspace, the result's last.
ResultEntries result_entries(const schedule::Nests& nests, const problem::Problem& problem);

/// Returns those of a schedule of the problem. Errors: those of schedule::apply_own.
support::Result<ResultEntries> result_entries(const schedule::Trace& trace, const problem::Problem& problem);

/// Wherever a schedule with `a` appends an entry, one with `b` does, too.
bool has_no_more_entries(const ResultEntries& a, const ResultEntries& b);

/// Tells which of the schedules have the fewest entries. Where none has fewest whatever the operands, one
/// stands for the fewest that no other has fewer than: entries do not depend on costs.
std::vector<bool> with_fewest_entries(const std::vector<ResultEntries>& schedules);

/// Leaves out members that give the result more entries than others do. `entries`: of each member.
void keep_fewest_entries(ListedMembers& listed, const std::vector<ResultEntries>& entries);

}  // namespace schaas::space

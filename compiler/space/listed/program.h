#pragma once
#include <cstddef>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/problem/problem.h"
#include "compiler/space/listed/listed_members.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

/// The schedules of what is more than one contraction: programs of several statements, expressions with
/// reductions inside (docs/schedule_space.md, "Programs").
namespace schaas::space {

struct ProgramOptions {
  std::size_t max_tries = 20'000;  ///< tries beyond this are left out
  bool distributed = true;         ///< the terms of sums one after another, too
  bool apart_first = false;        ///< list the nests that share nothing before those that share most
  /// End of the listing, once there is a schedule; null: none.
  const support::Cancellation* budget = nullptr;
};

/// Every order of the nests of `tree`, the problem's default nest, that respects dependences; for every two
/// neighbours every legal list of shared loops, longer ones first; below them every loop order that respects
/// storage. Of these orders only those are listed that no other beats, whatever the sizes; the others are
/// counted. Each of these, and with every choice of sums whose loops below some depth are distributed over
/// their terms (schedule/distribute.h). Errors: those of schedule::nests_of; exhausted (cancelled).
support::Result<ListedMembers> program_members(const concrete_notation::StatementPtr& tree,
                                               const problem::Problem& problem, const ProgramOptions& options,
                                               const support::Cancellation& cancellation);

}  // namespace schaas::space

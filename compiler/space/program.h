#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <gmpxx.h>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/cost/cost.h"
#include "compiler/problem/problem.h"
#include "compiler/schedule/trace.h"
#include "compiler/support/cancellation.h"
#include "compiler/support/result.h"

/// The schedules of what is more than one contraction: programs of several statements, expressions with
/// reductions inside (docs/schedule_space.md, "Programs").
namespace schaas::space {

struct ProgramOptions {
  std::size_t most_tries = 20'000;  ///< tries beyond this are left out
};

/// One schedule. Of the loop orders below a nest's shared loops only those are listed that no other order
/// beats, whatever the sizes; `orders` counts all of them.
struct ProgramMember {
  schedule::Trace trace;
  cost::Cost cost;
  mpz_class orders;
};

struct ProgramMembers {
  std::vector<ProgramMember> members;  ///< those that share most first, for each sequence
  mpz_class schedules;                 ///< number of all schedules of the tries listed
  std::size_t tries = 0;
  bool complete = true;  ///< false: there are more than `most_tries`
};

/// Every order of the nests of `tree`, the problem's default nest, that respects dependences; for every two
/// neighbours every legal list of shared loops; below them every loop order that respects storage. Errors:
/// those of schedule::nests_of; exhausted (cancelled).
support::Result<ProgramMembers> program_members(const concrete_notation::StatementPtr& tree,
                                                const problem::Problem& problem,
                                                const ProgramOptions& options,
                                                const support::Cancellation& cancellation);

}  // namespace schaas::space

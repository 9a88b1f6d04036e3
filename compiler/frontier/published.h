#pragma once
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/frontier/proofs/solver.h"

namespace schaas::frontier {

/// Schedules that SparseAuto's stages 1 to 3 leave (its section 5.2, table 3), for comparison and for users
/// who cite it.
struct Published {
  /// The survivors. Members that can be run are to be looked up in the as-written space; a class may have
  /// none.
  std::vector<cost::Cost> classes;
  std::vector<Removal> removals;
  Counts counts;    ///< loop trees and pairs after each stage
  Seconds seconds;  ///< `total` is left 0
  bool complete = true;
};

/// Counts the published space, then
/// 1. drops members whose temporaries have more than `options.memory_depth` indices (options.stage1),
/// 2. keeps the pairs whose depths no other pair's are below (options.stage2),
/// 3. compares pairs of (time, memory in preorder) by the papers' own test: s is removed when some class
///    dominates it at *some* allowed size and s dominates that class at none, with every loop counted at its
///    extent. Not sound: sizes at which neither dominates are ignored, so s may win there
///    (docs/cost_model.md).
/// Errors: exhausted (cancelled, deadline, states).
support::Result<Published> published_stages(const problem::Problem& problem, const Options& options,
                                            LogBounds& bounds, Solver& solver, const Progress& progress,
                                            const support::Cancellation& cancellation);

}  // namespace schaas::frontier

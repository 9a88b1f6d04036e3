#pragma once
#include <vector>

#include "compiler/frontier/frontier.h"
#include "compiler/frontier/proofs/solver.h"

namespace schaas::frontier {

/// A solver within the budgets of one search (milliseconds per question and for all of them, counted in
/// steps). After an open question the next has half the time, then a quarter, then an eighth, until one is
/// decided. What it is asked, how long that takes and what stays open is counted in `counts`.
class BudgetedSolver {
 public:
  BudgetedSolver(Solver& solver, const Options& options, Counts& counts)
      : solver_(solver), options_(options), counts_(counts), milliseconds_(options.solver_milliseconds) {}
  /// Later questions end with the budget.
  void end_with(const support::Cancellation& budget) { solver_.end_at(budget.deadline()); }

  /// Decides whether all relations hold at some point of the assumed constraints; unknown, and not asked,
  /// when the total budget is spent.
  Verdict ask(const std::vector<SolverRelation>& relations);

  /// False once a question stayed open.
  bool complete() const { return complete_; }

 private:
  Solver& solver_;
  const Options& options_;
  Counts& counts_;
  int milliseconds_;  ///< for the next question
  bool complete_ = true;
};

}  // namespace schaas::frontier

#include "compiler/frontier/budgeted_solver.h"

#include <algorithm>
#include <chrono>

namespace schaas::frontier {

/// Questions after open ones have at least the limit of one question divided by this.
constexpr int max_divisor = 8;

Verdict BudgetedSolver::ask(const std::vector<SolverRelation>& relations) {
  if (counts_.solver_steps >= options_.solver_total_milliseconds * steps_per_millisecond) {
    complete_ = false;
    return Verdict::unknown;
  }
  const auto start = std::chrono::steady_clock::now();
  ++counts_.solver_queries;
  const Verdict verdict = solver_.check_all(relations, milliseconds_);
  const double took =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  counts_.solver_steps += solver_.steps();
  counts_.solver_milliseconds += took;
  counts_.solver_worst_milliseconds = std::max(counts_.solver_worst_milliseconds, took);
  if (verdict == Verdict::unknown) {
    ++counts_.solver_unknown;
    complete_ = false;
    milliseconds_ = std::max(milliseconds_ / 2, options_.solver_milliseconds / max_divisor);
  } else {
    milliseconds_ = options_.solver_milliseconds;
  }
  return verdict;
}

}  // namespace schaas::frontier

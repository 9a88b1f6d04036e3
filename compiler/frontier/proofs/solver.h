#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/cancellation.h"

namespace schaas::frontier {

/// coefficient * product of variables (by number, exponent by repetition), over the reals.
struct SolverMonomial {
  std::int64_t coefficient = 1;
  std::vector<int> variables;
  bool operator==(const SolverMonomial&) const = default;
};
using SolverSum = std::vector<SolverMonomial>;
/// lhs <= rhs, or lhs < rhs.
struct SolverRelation {
  SolverSum lhs;
  SolverSum rhs;
  bool strict = false;
  bool operator==(const SolverRelation&) const = default;
};

/// Steps of Z3 (its `rlimit`) that stand for a millisecond in the limits of questions: about what a machine
/// of 2024 takes. Steps depend on the question alone, so a slow or busy machine leaves no other questions
/// open.
inline constexpr std::int64_t steps_per_millisecond = 2000;

enum class Verdict { unsatisfiable, satisfiable, unknown };

/// "Some point of the constraints satisfies the relations": unsatisfiable is a proof; satisfiable and unknown
/// are not used to remove anything. One per thread.
class Solver {
 public:
  virtual ~Solver() = default;
  /// Variables are reals >= 0. Replaces earlier constraints.
  virtual void assume(int variables, const std::vector<SolverRelation>& constraints) = 0;
  /// All relations at once, for so many milliseconds, counted in steps. Whatever goes wrong is "unknown".
  virtual Verdict check_all(const std::vector<SolverRelation>& relations, int milliseconds) = 0;
  /// After "satisfiable": a value for each variable, in double precision (to be checked before it is
  /// believed). Empty when there is none.
  virtual std::vector<double> model() const = 0;
  /// Returns the steps that the last question took.
  virtual std::int64_t steps() const { return 0; }
  /// Questions that are not decided at this time stay open, whatever steps are left; nothing: no such time.
  void end_at(std::optional<support::Cancellation::Clock::time_point> end) { end_ = end; }

  Verdict check(const SolverRelation& relation, int milliseconds) {
    return check_all({relation}, milliseconds);
  }

 protected:
  /// Returns the time until the end, at most `most`, at least 0.
  std::chrono::milliseconds time_left(std::chrono::milliseconds most) const {
    using std::chrono::milliseconds;
    if (!end_) return most;
    const auto left = std::chrono::ceil<milliseconds>(*end_ - support::Cancellation::Clock::now());
    return std::clamp(left, milliseconds(0), most);
  }

 private:
  std::optional<support::Cancellation::Clock::time_point> end_;
};

/// Makes the solver of one search; it ends with "unknown" when the search is cancelled. Thread-safe.
using SolverFactory = std::function<std::unique_ptr<Solver>(const support::Cancellation&)>;

/// Z3 with qfnra-nlsat on Reals (never on Ints with a timeout: Z3 4.8.12 can deadlock there), in this
/// process: nothing but its own limit ends a query. z3_solver.cc is the only file that includes z3++.h.
std::unique_ptr<Solver> make_z3_solver();

/// By the factory; without one, make_z3_solver.
std::unique_ptr<Solver> make_solver(const SolverFactory& factory, const support::Cancellation& cancellation);

}  // namespace schaas::frontier

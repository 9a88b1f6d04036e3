#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::frontier {

/// coefficient * product of variables (by number, exponent by repetition), over the reals.
struct SolverMonomial {
  std::int64_t coefficient = 1;
  std::vector<int> variables;
};
using SolverSum = std::vector<SolverMonomial>;
/// lhs <= rhs, or lhs < rhs.
struct SolverRelation {
  SolverSum lhs;
  SolverSum rhs;
  bool strict = false;
};

enum class Verdict { unsatisfiable, satisfiable, unknown };

/// "Some point of the constraints satisfies the relation": unsatisfiable is a proof; satisfiable and unknown
/// are not used to remove anything. One per thread.
class Solver {
 public:
  virtual ~Solver() = default;
  /// Variables are reals >= 0. Replaces earlier constraints.
  virtual void assume(int variables, const std::vector<SolverRelation>& constraints) = 0;
  virtual Verdict check(const SolverRelation& relation, int milliseconds) = 0;
};

/// Z3 with qfnra-nlsat on Reals (never on Ints with a timeout: Z3 4.8.12 can deadlock there). z3_solver.cc is
/// the only file that includes z3++.h.
std::unique_ptr<Solver> make_z3_solver();

}  // namespace schaas::frontier

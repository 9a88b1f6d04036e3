#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontier/proofs/solver.h"
#include "compiler/support/result.h"

/// Solver questions as lines, for a solver in a process of its own that can be killed:
///
///     ready                             <- the program, once
///     assume 2 1                        -> variables, constraints; not answered
///     8 <= v0
///     check 300 1                       -> milliseconds (solver.h), relations
///     3*v0*v1 + 2 < 5*v1*v1
///     sat 8 0.25 steps 1234             <- or: unsat, unknown; sat gives a value for each variable
///
/// What cannot be read ends the program.
namespace schaas::frontier {

/// "3*v0*v1 + 2 < 5*v1*v1"; an empty sum is 0. parse_relation(print(r)) == r for sums without zeros.
std::string print(const SolverRelation& relation);
/// Errors: invalid [solver-protocol].
support::Result<SolverRelation> parse_relation(std::string_view text, int variables);

std::string assume_request(int variables, const std::vector<SolverRelation>& constraints);
std::string check_request(const std::vector<SolverRelation>& relations, int milliseconds);

struct SolverAnswer {
  Verdict verdict = Verdict::unknown;
  std::vector<double> model{};
  std::int64_t steps = 0;
};
std::string print(const SolverAnswer& answer);
/// Errors: invalid [solver-protocol] for anything but an answer about that many variables.
support::Result<SolverAnswer> parse_answer(std::string_view line, int variables);

/// Answers questions until the input ends. Errors: invalid [solver-protocol].
support::Result<void> serve_solver(std::istream& in, std::ostream& out, Solver& solver);

}  // namespace schaas::frontier

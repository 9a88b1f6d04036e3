#pragma once
#include <vector>

#include "compiler/frontier/proofs/solver.h"
#include "compiler/problem/problem.h"
#include "compiler/support/result.h"

namespace schaas::frontier {

inline constexpr const char* contradiction_code = "contradiction";

/// True when the log program or the solver shows that no sizes satisfy the problem's constraints. With 0
/// milliseconds the solver is not asked.
bool contradictory(const problem::Problem& problem, Solver& solver, int solver_milliseconds);

/// A smallest part of contradicting constraints, by position: without any one of them nothing is shown to
/// contradict. `problem` without its own constraints; they must be contradictory.
std::vector<std::size_t> contradicting_part(const problem::Problem& problem,
                                            const std::vector<problem::Constraint>& constraints,
                                            Solver& solver, int solver_milliseconds);

/// Checks that some sizes satisfy the problem's constraints, as far as can be shown. Errors: invalid
/// [contradiction], with a smallest contradicting part as notes.
support::Result<void> check_satisfiable(const problem::Problem& problem, Solver& solver,
                                        int solver_milliseconds);

/// problem::build of a text whose constraints some sizes satisfy, as far as can be shown. Errors: those of
/// problem::build; invalid [contradiction] naming a smallest contradicting part in the user's own text.
support::Result<problem::Problem> build_consistent(const problem::ProblemText& text, Solver& solver,
                                                   int solver_milliseconds = 300);

}  // namespace schaas::frontier

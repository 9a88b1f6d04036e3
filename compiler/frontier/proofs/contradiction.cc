#include "compiler/frontier/proofs/contradiction.h"

#include <algorithm>
#include <map>

#include "compiler/frontier/proofs/log_bounds.h"
#include "compiler/frontier/proofs/sizes.h"
#include "compiler/index_notation/extent_classes.h"
#include "compiler/problem/constraint_set.h"

// Contradictions of constraints, cheapest test first: the linear program in logarithms, whole sizes that obey
// all constraints, the solver. A smallest part is found by a deletion filter. Each comparison is left out in
// turn, the last ones first; it stays out if what is left still contradicts. Texts are parsed once more for
// it, so that messages show the user's own comparisons.
namespace schaas::frontier {
namespace {

using problem::Constraint;
using problem::Problem;

/// A comparison in one of the texts.
struct Position {
  std::size_t text = 0;
  support::SourceRange range;
};

/// Quotes a part of a text.
std::string quoted(const std::string& text, support::SourceRange range) {
  return "`" + text.substr(range.begin, range.end - range.begin) + "`";
}

/// The caret stands under the last comparison; of the others those in a chain are shown in a note.
support::Diagnostic diagnostic(const std::vector<std::string>& texts,
                               const std::vector<Position>& positions) {
  const auto quote = [&](const Position& position) { return quoted(texts[position.text], position.range); };
  std::string message = positions.size() == 1 ? "no sizes satisfy " : "no sizes satisfy all of ";
  for (std::size_t n = 0; n < positions.size(); ++n)
    message += (n == 0 ? "" : n + 1 == positions.size() ? " and " : ", ") + quote(positions[n]);
  const Position& last = positions.back();
  auto error =
      support::at(support::invalid(contradiction_code, message), "constraint", texts[last.text], last.range);
  for (std::size_t n = 0; n + 1 < positions.size(); ++n) {
    const std::string& text = texts[positions[n].text];
    if (quote(positions[n]) == "`" + text + "`") continue;
    error = support::noting(std::move(error), quote(positions[n]) + " stands at character " +
                                                  std::to_string(positions[n].range.begin + 1) + " of `" +
                                                  text + "`");
  }
  return error;
}

/// Adds relations that hold without being written.
support::Diagnostic with_facts(support::Diagnostic error, const Problem& problem, bool counts) {
  std::map<std::string, std::string> members;  // by class of equal extents
  for (const auto& [index, first] : index_notation::extent_classes(problem.statements())) {
    std::string& all = members[first];
    all += (all.empty() ? "`" : ", `") + index + "`";
  }
  for (const auto& [first, all] : members) {
    if (all.find(',') == std::string::npos) continue;
    error = support::noting(std::move(error),
                            all + " have one extent: they stand at the same mode of a tensor used twice");
  }
  if (!counts) return error;
  return support::noting(
      std::move(error),
      "under each entry of the level above a level stores at most its extent, and at least "
      "one entry when that level is compressed");
}

/// The constraint speaks of nonzero counts.
bool has_counts(const Constraint& constraint) {
  const auto counts = [](const std::vector<problem::Monomial>& side) {
    return std::any_of(side.begin(), side.end(), [](const problem::Monomial& monomial) {
      return std::any_of(monomial.powers.begin(), monomial.powers.end(), [](const auto& power) {
        return power.first.kind == problem::Symbol::Kind::nonzeros;
      });
    });
  };
  return counts(constraint.lhs) || counts(constraint.rhs);
}

constexpr std::size_t sizes_to_try = 8;

}  // namespace

bool contradictory(const Problem& problem, Solver& solver, int solver_milliseconds) {
  const LogBounds bounds(problem);
  if (!bounds.feasible()) return true;
  // The rows say all that the constraints say, and some point satisfies them.
  if (bounds.exact()) return false;
  // Whole sizes that obey all constraints spare the solver its first question, which costs more than most
  // searches.
  for (const cost::Point& point : bounds.samples(sizes_to_try)) {
    if (whole_sizes(point, bounds)) return false;
  }
  if (solver_milliseconds <= 0) return false;
  solver.assume(bounds.solver_variables(), bounds.relations());
  return solver.check_all({}, solver_milliseconds) == Verdict::unsatisfiable;
}

std::vector<std::size_t> contradicting_part(const Problem& problem,
                                            const std::vector<Constraint>& constraints, Solver& solver,
                                            int solver_milliseconds) {
  std::vector<std::size_t> part(constraints.size());
  for (std::size_t n = 0; n < part.size(); ++n) part[n] = n;
  // Positions before n stay what they are when n is erased.
  for (std::size_t n = part.size(); n-- > 0;) {
    std::vector<Constraint> rest;
    for (std::size_t m = 0; m < part.size(); ++m) {
      if (m != n) rest.push_back(constraints[part[m]]);
    }
    Problem without = problem;
    auto simplified = problem::simplify(problem.statements(), rest);
    if (!simplified.ok()) continue;
    without.constraints = std::move(*simplified);
    if (contradictory(without, solver, solver_milliseconds)) part.erase(part.begin() + static_cast<long>(n));
  }
  return part;
}

support::Result<void> check_satisfiable(const Problem& problem, Solver& solver, int solver_milliseconds) {
  if (!contradictory(problem, solver, solver_milliseconds)) return {};
  auto error = support::invalid(contradiction_code, "no sizes satisfy all of these constraints");
  for (const std::size_t n : contradicting_part(problem, problem.constraints, solver, solver_milliseconds))
    error = support::noting(std::move(error), problem::print(problem.constraints[n]));
  return error;
}

support::Result<Problem> build_consistent(const problem::ProblemText& text, Solver& solver,
                                          int solver_milliseconds) {
  SCHAAS_ASSIGN_OR_RETURN(Problem problem, problem::build(text));
  if (!contradictory(problem, solver, solver_milliseconds)) return problem;
  std::vector<Constraint> constraints;
  std::vector<Position> positions;
  for (std::size_t n = 0; n < text.constraints.size(); ++n) {
    SCHAAS_ASSIGN_OR_RETURN(const auto comparisons,
                            problem::parse_comparisons(text.constraints[n], problem::scope_of(problem)));
    for (const problem::Comparison& one : comparisons) {
      constraints.push_back(one.constraint);
      positions.push_back({n, one.range});
    }
  }
  std::vector<Position> part;
  bool counts = false;
  for (std::size_t n : contradicting_part(problem, constraints, solver, solver_milliseconds)) {
    part.push_back(positions[n]);
    counts = counts || has_counts(constraints[n]);
  }
  SCHAAS_CHECK(!part.empty(), "constraints contradict without any of them");
  return with_facts(diagnostic(text.constraints, part), problem, counts);
}

}  // namespace schaas::frontier

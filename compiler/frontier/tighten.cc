#include "compiler/frontier/tighten.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/concrete_notation/copies/possible_copies.h"
#include "compiler/concrete_notation/copies/result_copies.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/appending.h"

// Frontiers by subsumption: that of relaxed constraints, compared again under tighter ones. Implication is
// proven by refutation. Each relaxed constraint is denied beside all tighter ones, and no sizes may be left.
// Both problems must count the same temporaries as free, which is checked for every product of extents.
// tighten.h argues why survivors suffice. The answer is that of a search, since ties are the same in both:
// costs are sums of products. Such sums that are equal wherever sizes have room in every direction are the
// same sums.
namespace schaas::frontier {
namespace {

/// Products of extents are compared one by one: 2^10 of them take some tens of milliseconds.
constexpr std::size_t max_indices = 10;

/// Removes the constant of a sum and returns it.
std::int64_t take_constant(std::vector<problem::Monomial>& sum) {
  std::int64_t constant = 0;
  for (const problem::Monomial& monomial : sum)
    constant += monomial.powers.empty() ? monomial.coefficient : 0;
  std::erase_if(sum, [](const problem::Monomial& monomial) { return monomial.powers.empty(); });
  return constant;
}

void add_constant(std::vector<problem::Monomial>& sum, std::int64_t constant) {
  if (constant != 0) sum.insert(sum.begin(), problem::Monomial{constant, {}});
}

/// Over whole numbers not(lhs <= rhs) is rhs + 1 <= lhs.
problem::Constraint denied(const problem::Constraint& constraint) {
  problem::Constraint out{constraint.rhs, constraint.lhs};
  const std::int64_t difference = take_constant(out.lhs) + 1 - take_constant(out.rhs);
  add_constant(out.lhs, std::max<std::int64_t>(difference, 0));
  add_constant(out.rhs, std::max<std::int64_t>(-difference, 0));
  return out;
}

bool possible(const problem::Problem& problem, Solver& solver, const Options& options) {
  return !contradictory(problem, solver, options.solver_milliseconds);
}

/// Decides whether the same products of extents are proven to be small.
bool same_free(const problem::Problem& a, const problem::Problem& b) {
  LogBounds bounds_of_a(a), bounds_of_b(b);
  ProvenDominance in_a(bounds_of_a, 1, free_elements(a.profile)),
      in_b(bounds_of_b, 1, free_elements(b.profile));
  const std::size_t indices = bounds_of_a.variables().extents.size();
  if (indices > max_indices) return false;
  for (cost::Term term = 1; term < cost::Term{1} << indices; ++term) {
    if (in_a.free(term) != in_b.free(term)) return false;
  }
  return true;
}

/// Decides whether some constraint holds only with equality, as an extent that is fixed does. There schedules
/// of different costs are equal, and which of them an answer has depends on those that were removed before.
bool has_equality(const problem::Problem& problem, Solver& solver, const Options& options) {
  return std::any_of(problem.constraints.begin(), problem.constraints.end(), [&](const auto& constraint) {
    problem::Problem strict = problem;
    strict.constraints.push_back(denied({constraint.rhs, constraint.lhs}));
    return !possible(strict, solver, options);
  });
}

}  // namespace

bool implies(const problem::Problem& tighter, const problem::Problem& relaxed, const Options& options,
             const support::Cancellation& cancellation) {
  const auto solver = make_solver(options.solver, cancellation);
  const auto& known = tighter.constraints;
  return std::all_of(relaxed.constraints.begin(), relaxed.constraints.end(), [&](const auto& constraint) {
    if (std::find(known.begin(), known.end(), constraint) != known.end()) return true;
    problem::Problem denial = tighter;
    denial.constraints.push_back(denied(constraint));
    return !possible(denial, *solver, options);
  });
}

bool is_folded(const problem::Problem& problem) {
  return problem.profile == problem::Profile::standard && !problem.space.has_copies() &&
         !problem::factors_of(problem) && problem::is_contraction(problem) && !space::appends(problem) &&
         schedule::default_trace(problem).directives.empty() &&
         concrete_notation::result_copy_sets(problem).empty() &&
         concrete_notation::meeting_copy_sets(problem).empty();
}

bool stands_for_space(const problem::Problem& relaxed, const problem::Problem& tighter,
                      const Options& options, const support::Cancellation& cancellation) {
  const auto solver = make_solver(options.solver, cancellation);
  return is_folded(tighter) && same_free(relaxed, tighter) &&
         implies(tighter, relaxed, options, cancellation) && !has_equality(tighter, *solver, options);
}

support::Result<Frontier> tighten(const problem::Problem& problem, const Frontier& relaxed,
                                  const Options& options, const Progress& progress,
                                  const support::Cancellation& cancellation) {
  std::vector<cost::Cost> classes;
  for (const Survivor& survivor : relaxed.survivors) classes.push_back(survivor.cost);
  SCHAAS_ASSIGN_OR_RETURN(Frontier out,
                          compute_among(problem, std::move(classes), options, progress, cancellation));
  std::vector<Removal> removals;
  std::copy_if(relaxed.removals.begin(), relaxed.removals.end(), std::back_inserter(removals),
               [](const Removal& removal) { return removal.summary(); });
  std::move(out.removals.begin(), out.removals.end(), std::back_inserter(removals));
  out.removals = std::move(removals);
  out.complete = relaxed.complete && out.complete;
  out.counts.space = relaxed.counts.space;
  out.counts.states = relaxed.counts.states;
  return out;
}

}  // namespace schaas::frontier

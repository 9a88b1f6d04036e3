#include "compiler/frontier/tighten.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/frontier/class_order.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/frontier/stopwatch.h"

// Frontiers by subsumption: that of relaxed constraints, compared again under tighter ones. Implication is
// proven by refutation. Each relaxed constraint is denied beside all tighter ones, and no sizes may be left.
// Both problems must count the same temporaries as free, which is checked for every product of extents.
// tighten.h argues why survivors suffice.
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

/// The order of every frontier (frontier.h).
void sort_as_frontier(std::vector<Survivor>& survivors, const cost::Point& reference) {
  std::sort(survivors.begin(), survivors.end(),
            [&](const Survivor& a, const Survivor& b) { return stands_before(a.cost, b.cost, reference); });
  for (std::size_t s = 0; s < survivors.size(); ++s) survivors[s].id = entry_id(s);
}

std::string loop_trees(const std::vector<Survivor>& survivors) {
  std::uint64_t trees = 0;
  for (const Survivor& survivor : survivors) trees += survivor.loop_trees;
  return std::to_string(trees);
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

bool stands_for_space(const problem::Problem& relaxed, const problem::Problem& tighter,
                      const Options& options, const support::Cancellation& cancellation) {
  return same_free(relaxed, tighter) && implies(tighter, relaxed, options, cancellation);
}

support::Result<Frontier> tighten(const problem::Problem& problem, const Frontier& relaxed,
                                  const Options& options, const Progress& progress,
                                  const support::Cancellation& cancellation) {
  Stopwatch watch;
  const auto solver = make_solver(options.solver, cancellation);
  if (!possible(problem, *solver, options))
    return support::invalid("contradiction", "no sizes satisfy all constraints together");
  LogBounds bounds(problem);
  ProvenDominance dominance(bounds, pairwise_samples, free_elements(problem.profile));
  Frontier out;
  Pairwise pairwise(bounds, dominance, *solver, options, out.counts);
  std::vector<cost::Cost> classes;
  for (const Survivor& survivor : relaxed.survivors) classes.push_back(survivor.cost);
  SCHAAS_ASSIGN_OR_RETURN(Pairwise::Outcome outcome, pairwise.prune(
                                                         classes,
                                                         [&](std::uint64_t done, std::uint64_t of) {
                                                           if (progress) progress({"stage3", done, of});
                                                         },
                                                         cancellation));

  for (const Survivor& survivor : relaxed.survivors) {
    if (std::find(outcome.kept.begin(), outcome.kept.end(), survivor.cost) != outcome.kept.end())
      out.survivors.push_back(survivor);
  }
  sort_as_frontier(out.survivors, dominance.samples().front());
  std::copy_if(relaxed.removals.begin(), relaxed.removals.end(), std::back_inserter(out.removals),
               [](const Removal& removal) { return removal.summary(); });
  std::move(outcome.removals.begin(), outcome.removals.end(), std::back_inserter(out.removals));
  out.complete = relaxed.complete && outcome.complete;
  out.limited = relaxed.limited;
  out.counts.space = relaxed.counts.space;
  out.counts.states = relaxed.counts.states;
  out.counts.classes_stage1 = out.counts.classes_stage2 = classes.size();
  out.counts.stage3 = loop_trees(out.survivors);
  out.counts.classes_stage3 = out.survivors.size();
  watch.lap(out.seconds.stage3);
  out.seconds.total = out.seconds.stage3;
  return out;
}

}  // namespace schaas::frontier

#include "server/providers/relaxed_frontier.h"

#include <algorithm>
#include <utility>

#include "compiler/frontier/tighten.h"
#include "compiler/pipeline/variants.h"

// Subsumption: the frontier under relaxed constraints holds every schedule that can win under tighter ones.
// Its survivors need only be compared again (frontier/tighten.h). Constraints take part in canonical form, so
// two problems of one family may differ in names, order of factors and numbers of cost variables. Such a pair
// is searched: ties of a frontier are broken by these numbers, and a translated answer would be another one.
namespace schaas::server {
namespace {

problem::Problem without_constraints(problem::Problem problem) {
  problem.constraints.clear();
  problem.position_bits = 64;
  return problem;
}

}  // namespace

std::string unconstrained_key(const problem::Problem& canonical) {
  return problem::canonicalize(without_constraints(canonical)).key;
}

support::Result<std::optional<frontier::Frontier>> from_relaxed(const problem::Canonical& query,
                                                                const problem::Problem& relaxed,
                                                                const frontier::Frontier& stored,
                                                                const frontier::Options& options,
                                                                const frontier::Progress& progress,
                                                                const support::Cancellation& cancellation) {
  const std::optional<frontier::Frontier> none;
  const problem::Problem& problem = query.problem;
  if (problem::print(without_constraints(relaxed)) != problem::print(without_constraints(problem)) ||
      !frontier::stands_for_space(relaxed, problem, options, cancellation))
    return none;
  SCHAAS_ASSIGN_OR_RETURN(frontier::Frontier found,
                          frontier::tighten(problem, stored, options, progress, cancellation));
  pipeline::add_variants(found, problem);
  return std::optional(std::move(found));
}

}  // namespace schaas::server

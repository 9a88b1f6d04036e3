#include "compiler/schedule/replay/apply.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/masks.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/directives/apply_directive.h"
#include "compiler/schedule/directives/store.h"
#include "compiler/schedule/illegal.h"
#include "compiler/schedule/replay/ordered_appends.h"
#include "compiler/schedule/replay/with_factors.h"
#include "compiler/schedule/temporary_layout.h"

// A trace is replayed in four steps, in this order:
// 1. Directives about the problem (`store`, `mask`, `precompute`) change the problem, since they decide the
// default nest.
// 2. Directives that make loops change the tree, which is verified after each: an error points at its cause.
// 3. Temporaries get their layout, and a sparse result its workspace, so that annotations meet the final
// loops.
// 4. Annotations come last, because the directives of step 2 build new loops without any.
// A product with numbers and functions among its factors is replayed as the contraction of its elements
// (problem/rewrites/factors.h). The factors enter the finished tree, so both problems have the same traces.
namespace schaas::schedule {
namespace {

using concrete_notation::StatementPtr;
using support::Diagnostic;
using support::Result;

/// Returns the diagnostic pointing at directive `number` of print(trace).
Diagnostic at_directive(const Diagnostic& error, const Trace& trace, std::size_t number) {
  Trace before;
  before.directives.assign(trace.directives.begin(),
                           trace.directives.begin() + static_cast<std::ptrdiff_t>(number));
  const std::size_t begin = number == 0 ? 0 : print(before).size() + 2;  // "; "
  const std::size_t end = begin + print(trace.directives[number]).size();
  return support::at(illegal(error.message), "schedule", print(trace),
                     {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
}

/// Returns the error of a directive that follows an annotation.
Diagnostic too_late(const Directive& directive) {
  return illegal(
      "`" + name(directive) +
      "` makes new loops and drops the annotations of the present ones; it comes before "
      "parallelize, unroll, bound, collapse, pos, threads, group, launch, stage, merge_path and gather");
}

/// Verifies a tree that no further directive changes.
Result<void> check(const StatementPtr& tree, const problem::Problem& problem) {
  return concrete_notation::verify(with_ordered_appends(tree, problem), problem);
}

Result<void> check_default_nest(const StatementPtr& tree, const problem::Problem& problem) {
  const auto verified = check(tree, problem);
  if (verified.ok()) return {};
  return support::noting(
      support::unsupported("no-loop-order", "no single loop nest computes `" +
                                                index_notation::print(problem.statement) +
                                                "`: " + verified.error().message),
      "store one of these tensors in the mode order of the other (`store` makes a copy of it), or dense");
}

/// Returns the number of leading directives about the problem: re-layouts, masks, then precomputed calls.
std::size_t problem_directives_of(const Trace& trace) {
  auto at = trace.directives.begin();
  while (at != trace.directives.end() && std::holds_alternative<Store>(*at)) ++at;
  while (at != trace.directives.end() && std::holds_alternative<Mask>(*at)) ++at;
  while (at != trace.directives.end() && std::holds_alternative<Precompute>(*at)) ++at;
  return static_cast<std::size_t>(at - trace.directives.begin());
}

Result<problem::Problem> apply_to_problem(const problem::Problem& problem, const Directive& directive) {
  if (const auto* mask = std::get_if<Mask>(&directive)) return problem::with_mask(problem, *mask);
  if (const auto* precompute = std::get_if<Precompute>(&directive))
    return problem::with_precomputed(problem, *precompute);
  return apply_store(problem, std::get<Store>(directive));
}

/// Adds masks of intermediates that several statements read, where the masked nest has a loop order.
void add_masks(problem::Problem problem, Trace& trace) {
  for (auto& request : problem::possible_masks(problem)) {
    auto masked = problem::with_mask(problem, request);
    if (!masked.ok() || !check(default_nest(*masked), *masked).ok()) continue;
    problem = std::move(masked).value();
    trace.directives.emplace_back(std::move(request));
  }
}

/// Trees that are verified: after each directive, so that an error points at its cause, or the last one. Only
/// the last tree has to be legal: storage orders may allow no nest, but trees once it is split.
enum class Verified { each, last };

/// Replays the other directives on the default nest of `problem`.
Result<StatementPtr> replay(const Trace& trace, const problem::Problem& problem, Verified verified_trees) {
  const auto& directives = trace.directives;
  // The first annotation: no directive may change loops from there on.
  const auto changing = static_cast<std::size_t>(
      std::find_if(directives.begin(), directives.end(), is_annotation) - directives.begin());
  TemporaryNames names(problem);
  StatementPtr tree = default_nest(problem, names);
  // Cyclic storage orders, as in B(i,j) * C(j,k) * D(k,i) by rows, allow no nest.
  const std::size_t stores = problem_directives_of(trace);
  const bool is_checked = verified_trees == Verified::each || changing == stores;
  const auto legal_nest = is_checked ? check_default_nest(tree, problem) : Result<void>();
  // Nothing follows that could split the nest, so its own error is the clearest.
  if (!legal_nest.ok() && changing == stores) return legal_nest.error();
  std::optional<Diagnostic> broken;  ///< points at the directive since which no tree was legal
  for (std::size_t number = stores; number < changing; ++number) {
    auto next = apply_directive(directives[number], tree, problem, names);
    if (!next.ok()) return broken ? *broken : at_directive(next.error(), trace, number);
    tree = std::move(next).value();
    if ((!legal_nest.ok() || !is_checked) && number + 1 < changing) continue;
    const auto verified = check(tree, problem);
    if (verified.ok()) {
      broken.reset();
    } else if (!broken) {
      broken = at_directive(verified.error(), trace, number);
    }
  }
  if (broken) return *broken;
  // Trees of other programs keep the index order of their statements.
  if (problem::is_contraction(problem)) tree = lay_out_temporaries(tree);
  tree = with_ordered_appends(tree, problem);
  for (std::size_t number = changing; number < directives.size(); ++number) {
    if (!is_annotation(directives[number])) return at_directive(too_late(directives[number]), trace, number);
    auto next = apply_directive(directives[number], tree, problem, names);
    if (!next.ok()) return at_directive(next.error(), trace, number);
    tree = std::move(next).value();
    const auto verified = concrete_notation::verify(tree, problem);
    if (!verified.ok()) return at_directive(verified.error(), trace, number);
  }
  return tree;
}

}  // namespace

Trace default_trace(const problem::Problem& problem) {
  Trace trace;
  for (auto& request : concrete_notation::needed_copies(problem))
    trace.directives.emplace_back(std::move(request));
  if (problem.intermediates.empty() || problem::possible_masks(problem).empty()) return trace;
  // Masks are judged on the problem that has its copies already, in the order in which they are replayed.
  auto copied = trace.directives.empty() ? Result<problem::Problem>(problem) : problem_of(trace, problem);
  if (copied.ok()) add_masks(std::move(copied).value(), trace);
  return trace;
}

Result<problem::Problem> problem_of(const Trace& trace, const problem::Problem& problem) {
  // A trace with directives names its own re-layouts and masks; nothing is added to it.
  const Trace full = trace.directives.empty() ? default_trace(problem) : trace;
  problem::Problem out = problem;
  for (std::size_t number = 0; number < problem_directives_of(full); ++number) {
    auto next = apply_to_problem(out, full.directives[number]);
    if (!next.ok()) return at_directive(next.error(), full, number);
    out = std::move(next).value();
  }
  return out;
}

namespace {

Result<StatementPtr> replay_requested(const Trace& trace, const problem::Problem& requested,
                                      Verified verified_trees) {
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem problem, problem_of(trace, requested));
  const auto factors = problem::factors_of(problem);
  if (!factors) return replay(trace, problem, verified_trees);
  SCHAAS_ASSIGN_OR_RETURN(const StatementPtr tree, replay(trace, factors->contraction, verified_trees));
  return with_factors(tree, *factors);
}

}  // namespace

Result<StatementPtr> apply(const Trace& trace, const problem::Problem& problem) {
  return replay_requested(trace, problem, Verified::each);
}

Result<StatementPtr> apply_own(const Trace& trace, const problem::Problem& problem) {
  return replay_requested(trace, problem, Verified::last);
}

}  // namespace schaas::schedule

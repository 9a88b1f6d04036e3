#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "compiler/concrete_notation/copies/result_copies.h"
#include "compiler/frontier/class_order.h"
#include "compiler/frontier/copied.h"
#include "compiler/frontier/dense_walks.h"
#include "compiler/frontier/frontier.h"
#include "compiler/frontier/greedy_chain.h"
#include "compiler/frontier/search.h"
#include "compiler/frontier/sparse_point.h"
#include "compiler/frontier/stopwatch.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/result_entries.h"

// A search that its budget ends before any schedule is found is answered with one that needs no search. A
// product of four operands and more with a dense result is computed step by step. Anything else has its
// default nest, with the copies that give a sparse result the fewest entries. A part that has no schedule
// without such copies has this nest, too, unless it walks all elements. A search of a part may find only
// schedules that give a sparse result more entries than the whole has to. Those are no schedules of the
// result.
namespace schaas::frontier {
namespace {

constexpr std::size_t min_stepped_operands = 4;  ///< operands of a product that is computed step by step
constexpr std::size_t min_known_entries = 8;     ///< schedules looked at however little time is left

/// The product, with a dense result, in steps of two operands; the empty trace for what has no such steps.
schedule::Trace steps_of(const problem::Problem& asked) {
  const auto factors = problem::factors_of(asked);
  const problem::Problem& problem = factors ? factors->contraction : asked;
  if (!problem::is_contraction(problem) || problem.operands().size() < min_stepped_operands) return {};
  return greedy_chain(problem, problem);
}

bool has_dense_result(const problem::Problem& problem) {
  return problem.formats.at(problem.statement.result.tensor).all_dense();
}

/// A default nest, plain or with copies that give a sparse result fewer entries.
struct DefaultNest {
  schedule::Trace trace;
  space::ResultEntries entries;
};

/// The time of a nest at the sizes of SparsePoint; infinite where it is not legal.
double sparse_time(const schedule::Trace& trace, const problem::Problem& problem) {
  const auto tree = schedule::apply(trace, problem);
  const auto copied = schedule::problem_of(trace, problem);
  if (!tree.ok() || !copied.ok()) return std::numeric_limits<double>::infinity();
  const cost::Point point = SparsePoint(*copied).values(cost::variables_of(*copied));
  return cost::evaluate_time(cost::of(*tree, *copied), point);
}

/// Returns the default nest that gives the sparse result the fewest entries, the fastest of several.
support::Result<DefaultNest> default_nest_with_fewest_entries(const problem::Problem& asked) {
  const auto factors = problem::factors_of(asked);
  const problem::Problem& problem = factors ? factors->contraction : asked;
  std::vector<schedule::Trace> traces(1);
  if (problem::is_contraction(problem)) {
    for (const auto& sets :
         {concrete_notation::result_copy_sets(problem), concrete_notation::meeting_copy_sets(problem)}) {
      for (const auto& set : sets) traces.push_back(trace_of(set));
    }
  }
  std::vector<DefaultNest> nests;
  std::vector<space::ResultEntries> entries;
  std::optional<support::Diagnostic> none;
  for (schedule::Trace& trace : traces) {
    auto found = space::result_entries(trace, asked);
    if (!found.ok()) {
      if (!none) none = found.error();
      continue;
    }
    entries.push_back(*found);
    nests.push_back({std::move(trace), std::move(*found)});
  }
  if (nests.empty()) return *none;
  const std::vector<bool> fewest = space::with_fewest_entries(entries);
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t n = nests.size(); n-- > 0;) {
    if (!fewest[n]) continue;
    const double time = sparse_time(nests[n].trace, asked);
    if (time <= least) best = n, least = time;
  }
  return std::move(nests[best]);
}

/// Entries where every sparse operand of a product is stored: no schedule gives the result fewer.
space::ResultEntries fewest_possible_entries(const problem::Problem& problem) {
  std::set<std::string> stored;
  for (const auto& operand : problem.operands())
    if (!problem.formats.at(operand.tensor).all_dense()) stored.insert(index_notation::print(operand));
  return {{std::move(stored)}, false};
}

bool has_more_entries(const space::ResultEntries& a, const space::ResultEntries& b) {
  return space::has_no_more_entries(b, a) && !space::has_no_more_entries(a, b);
}

/// Leaves out schedules that give the sparse result more entries than these. When the budget ends, those that
/// were not looked at are left out, too: the slowest.
support::Result<void> leave_out_more_entries(Frontier& found, const space::ResultEntries& most,
                                             const problem::Problem& problem,
                                             const support::Cancellation& budget) {
  std::vector<std::size_t> fastest(found.survivors.size());
  std::iota(fastest.begin(), fastest.end(), std::size_t{0});
  std::stable_sort(fastest.begin(), fastest.end(), [&](std::size_t a, std::size_t b) {
    return middling_time(found.survivors[a].cost) < middling_time(found.survivors[b].cost);
  });
  std::set<std::size_t> kept;
  std::size_t known = 0;
  for (const std::size_t n : fastest) {
    if (known++ >= min_known_entries && !budget.check("counting entries").ok()) {
      found.limited += "; the time for the search ended before the entries of all schedules were known";
      break;
    }
    SCHAAS_ASSIGN_OR_RETURN(const space::ResultEntries entries,
                            space::result_entries(found.survivors[n].traces.front(), problem));
    if (!has_more_entries(entries, most)) kept.insert(n);
  }
  std::vector<Survivor> survivors;
  for (const std::size_t n : kept) survivors.push_back(std::move(found.survivors[n]));
  found.survivors = std::move(survivors);
  return {};
}

/// Returns a frontier of this one schedule, or of the plain default nest where it is not legal.
support::Result<Frontier> frontier_of(schedule::Trace trace, const problem::Problem& problem,
                                      const std::string& why) {
  auto tree = schedule::apply(trace, problem);
  if (!tree.ok() && !trace.directives.empty()) {
    trace = {};
    tree = schedule::apply(trace, problem);
  }
  if (!tree.ok()) return tree.error();
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem with_copies, schedule::problem_of(trace, problem));
  Frontier out;
  out.survivors.push_back({entry_id(0), cost::of(*tree, with_copies), "1", 1, {std::move(trace)}});
  out.counts.space = out.counts.stage3 = "1";
  out.counts.classes_stage1 = out.counts.classes_stage2 = out.counts.classes_stage3 = 1;
  out.complete = false;
  out.limited = why + ": one schedule that needs no search is told; allow more time or memory";
  return out;
}

}  // namespace

support::Result<Frontier> compute(const problem::Problem& problem, const Options& options,
                                  const Progress& progress, const support::Cancellation& cancellation) {
  const Stopwatch watch;
  auto found = search(problem, options, progress, cancellation);
  if (problem.profile != problem::Profile::standard) return found;
  const bool is_part = options.operand_orders != 0, is_dense = has_dense_result(problem);
  const bool is_exhausted = !found.ok() && found.error().family == support::Family::exhausted;
  // A part without a schedule may lack the copies that the whole space has.
  const bool is_without = !found.ok() && found.error().code == "no-schedule" && is_part && !is_dense;
  if (found.ok() ? is_dense || (found->complete && !is_part) : !is_exhausted && !is_without) return found;
  schedule::Trace first;
  std::string why;
  if (is_dense) {
    first = steps_of(problem);
  } else {
    auto nest = default_nest_with_fewest_entries(problem);
    if (!nest.ok()) return found.ok() ? support::Result<Frontier>(nest.error()) : std::move(found);
    first = std::move(nest->trace);
    // The whole space may have schedules with fewer entries than a default nest.
    const space::ResultEntries most = is_part ? fewest_possible_entries(problem) : nest->entries;
    if (found.ok()) {
      const support::Cancellation budget(cancellation, watch.end_of(1, options.search_seconds));
      SCHAAS_RETURN_IF_ERROR(leave_out_more_entries(*found, most, problem, budget));
      if (!found->survivors.empty()) return found;
      why = "the schedules that were found give the result more entries than others do";
    }
    if (!is_exhausted && has_more_entries(nest->entries, most))
      return is_without ? std::move(found) : support::unsupported("no-schedule", why);
  }
  if (!found.ok()) why = found.error().message;
  SCHAAS_RETURN_IF_ERROR(cancellation.check("searching schedules"));
  auto one = frontier_of(std::move(first), problem, why);
  // A nest over all elements would run longer than the whole search takes.
  if (is_without && one.ok() && walks_all_elements(*one, problem)) return found;
  return one.ok() || found.ok() ? std::move(one) : std::move(found);
}

}  // namespace schaas::frontier

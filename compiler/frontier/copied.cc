#include "compiler/frontier/copied.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/copies/locating_copies.h"
#include "compiler/concrete_notation/copies/needed_copies.h"
#include "compiler/concrete_notation/copies/result_copies.h"
#include "compiler/frontier/dense_walks.h"
#include "compiler/frontier/listed.h"
#include "compiler/frontier/stopwatch.h"
#include "compiler/index_notation/nodes.h"
#include "compiler/schedule/nests.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/result_entries.h"

// Joins the frontiers of one problem with several sets of copies. All schedules of a set pay the same for
// their copies. So whatever the frontier of a set leaves out is covered by one of its survivors, and the
// joined answer is exact. Costs are computed from the trees, in the variables of the joined problem.
// Rejected: taking the costs of each part as they are. A part knows other copies, and numbers their
// intersections differently.
namespace schaas::frontier {
namespace {

using support::Result;

/// A survivor as a member for each of its traces; the first stands for the rest of the class too.
void list(const Survivor& survivor, space::ListedMembers& out) {
  mpz_class left(survivor.members);
  std::uint64_t trees = survivor.loop_trees;
  for (std::size_t t = survivor.traces.size(); t-- > 1;) {
    out.members.push_back({survivor.traces[t], survivor.cost, 1, 1});
    --left;
    trees -= trees > 1 ? 1 : 0;
  }
  out.members.push_back({survivor.traces.front(), survivor.cost, left, trees});
}

/// Products of so many operands are searched with and without copies that let rows be sums of products.
constexpr std::size_t max_operands_of_both = 4;

/// The part of a budget that all sets have together; their join has the rest.
constexpr double part_of_sets = 0.8;

using ComputeWithout = std::function<Result<Frontier>(const problem::Problem& problem)>;

class Joined {
 public:
  Joined(const problem::Problem& problem, const CopySets& sets, const ComputeWithout& without, double seconds,
         const support::Cancellation& cancellation)
      : problem_(problem),
        sets_(sets),
        without_(without),
        seconds_(seconds),
        cancellation_(cancellation),
        fibers_(cost::variables_of(problem).fibers.size()) {}

  Result<space::ListedMembers> run() {
    for (const auto& set : sets_) {
      SCHAAS_RETURN_IF_ERROR(cancellation_.check("searching schedules with copies"));
      if (seconds_ > 0 && watch_.since_start() > seconds_ && !found_.members.empty()) {
        found_.limited = "the budget ended before every set of copies was searched";
        break;
      }
      SCHAAS_RETURN_IF_ERROR(add(trace_of(set)));
    }
    // A set without schedules is no error, unless every set is.
    if (found_.members.empty() && none_) return *none_;
    if (!entries_.empty()) space::keep_fewest_entries(found_, entries_);
    return std::move(found_);
  }

 private:
  /// Adds the survivors with one set of copies.
  Result<void> add(const schedule::Trace& copies) {
    problem::Problem problem = problem_;
    if (!copies.directives.empty()) {
      SCHAAS_ASSIGN_OR_RETURN(problem, schedule::problem_of(copies, problem_));
    }
    auto found = without_(problem);
    if (!found.ok() && found.error().code == "no-schedule") {
      if (!none_) none_ = found.error();
      return {};
    }
    if (!found.ok()) return found.error();
    begin_with(copies, *found);
    for (Survivor& survivor : found->survivors) {
      // More copies that its nest needs than costs know of.
      SCHAAS_ASSIGN_OR_RETURN(const auto with_copies,
                              schedule::problem_of(survivor.traces.front(), problem_));
      if (cost::variables_of(with_copies).fibers.size() != fibers_) continue;
      // Intersections with copies are numbered behind all known copies, and `problem` may know others.
      SCHAAS_ASSIGN_OR_RETURN(const auto tree, schedule::apply(survivor.traces.front(), problem_));
      survivor.cost = cost::of(tree, with_copies);
      list(survivor, found_);
      if (problem_.formats.at(problem_.statement.result.tensor).all_dense()) continue;
      SCHAAS_ASSIGN_OR_RETURN(const auto nests, schedule::nests_and_terms_of(tree));
      entries_.resize(found_.members.size(), space::result_entries(nests, with_copies));
    }
    if (!found->counts.space.empty()) found_.schedules += mpz_class(found->counts.space);
    found_.steps += found->counts.states;
    if (found_.limited.empty()) found_.limited = found->limited;
    return {};
  }

  const problem::Problem& problem_;
  const CopySets& sets_;
  const ComputeWithout& without_;
  const double seconds_;  ///< after which no further set is begun; 0: never
  const Stopwatch watch_;
  const support::Cancellation& cancellation_;
  const std::size_t fibers_;
  space::ListedMembers found_;
  std::vector<space::ResultEntries> entries_;  ///< entries of a sparse result, by member
  std::optional<support::Diagnostic> none_;
};

/// Searches without copies and, when storage orders go round in a circle, with those of the default nest.
Result<Frontier> compute_with_needed_copies(const problem::Problem& problem, const Options& options,
                                            const ComputeOne& compute_one, const Progress& progress,
                                            const support::Cancellation& cancellation) {
  auto found = compute_one(problem, options, progress, cancellation);
  if (found.ok() || found.error().code != "no-schedule") return found;
  const schedule::Trace copies = schedule::default_trace(problem);
  if (copies.directives.empty()) return found;
  SCHAAS_ASSIGN_OR_RETURN(const problem::Problem copied, schedule::problem_of(copies, problem));
  SCHAAS_ASSIGN_OR_RETURN(Frontier with_copies, compute_one(copied, options, progress, cancellation));
  begin_with(copies, with_copies);
  return with_copies;
}

}  // namespace

void begin_with(const schedule::Trace& first, Frontier& frontier) {
  for (Survivor& survivor : frontier.survivors) {
    for (schedule::Trace& trace : survivor.traces)
      trace.directives.insert(trace.directives.begin(), first.directives.begin(), first.directives.end());
  }
}

schedule::Trace trace_of(const std::vector<problem::CopyRequest>& copies) {
  schedule::Trace trace;
  for (const problem::CopyRequest& request : copies) trace.directives.emplace_back(request);
  return trace;
}

Result<Frontier> compute_sets(const problem::Problem& problem, const CopySets& sets, const Options& options,
                              const ComputeOne& compute_one, const Progress& progress,
                              const support::Cancellation& cancellation) {
  Options part = options;
  part.search_seconds *= part_of_sets / static_cast<double>(sets.size());
  // Pairs that proofs in logarithms leave open are decided once, among the schedules of all sets.
  part.solver_total_milliseconds = 0;
  const auto without = [&](const problem::Problem& one) {
    return compute_one(one, part, progress, cancellation);
  };
  const auto list = [&] {
    return Joined(problem, sets, without, options.search_seconds * part_of_sets, cancellation).run();
  };
  return compute_listed(problem, list, options, progress, cancellation);
}

Result<Frontier> compute_with_copies(const problem::Problem& problem, const Options& options,
                                     const ComputeOne& compute_one, const Progress& progress,
                                     const support::Cancellation& cancellation) {
  const Stopwatch watch;
  const bool part = options.operand_orders != 0;
  const auto one = [&](const problem::Problem& with, const Options& in, const Progress& to,
                       const support::Cancellation& until) {
    return compute_with_needed_copies(with, in, compute_one, to, until);
  };
  const auto without = [&] { return one(problem, options, progress, cancellation); };
  const auto with = [&](const CopySets& sets) {
    Options rest = options;
    if (rest.search_seconds > 0) rest.search_seconds = std::max(0.01, watch.left_of(rest.search_seconds));
    return compute_sets(problem, sets, rest, one, progress, cancellation);
  };
  // A part without located coordinates may take all day where the others take a second.
  const auto locating = concrete_notation::with_locating_copies({}, problem);
  const auto plain = [&] {
    if (locating.empty()) return without();
    return with(part ? CopySets{locating} : CopySets{{}, locating});
  };
  if (const CopySets sets = concrete_notation::result_copy_sets(problem); !sets.empty())
    return part ? plain() : with(concrete_notation::also_locating(sets, problem));
  CopySets more = concrete_notation::meeting_copy_sets(problem);
  if (part && !more.empty()) {
    for (auto& set : more) set = concrete_notation::with_locating_copies(set, problem);
    return with(more);
  }
  // A row of products with a copy, or lists that meet at each entry: the sizes decide.
  const bool is_short = index_notation::operands(problem.statement.value).size() <= max_operands_of_both;
  if (!part && !more.empty() && is_short && problem.copies.empty())
    return with(concrete_notation::also_locating(more, problem));
  auto found = plain();
  if (part || !found.ok() || !problem.copies.empty()) return found;
  if (auto common = concrete_notation::common_index_copies(problem); !common.empty())
    return with(concrete_notation::also_locating({{}, std::move(common)}, problem));
  if (more.empty()) more = concrete_notation::walking_copy_sets(problem);
  if (more.empty()) more = {{}, concrete_notation::needed_copies(problem)};
  if (more.back().empty() || !walks_all_elements(*found, problem)) return found;
  return with(concrete_notation::also_locating(more, problem));
}

}  // namespace schaas::frontier

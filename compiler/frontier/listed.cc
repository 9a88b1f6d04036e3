#include "compiler/frontier/listed.h"

#include <map>
#include <utility>

#include "compiler/frontier/class_order.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/frontier/proofs/solver.h"
#include "compiler/frontier/proofs/volume.h"
#include "compiler/frontier/stopwatch.h"

// The search over a space whose members are listed: classes by cost, limits on temporaries, then the proofs
// of every search (pairwise.h). Nothing is pruned while members are made, so counts are those of the list. A
// listing that was cut short says so, and the frontier is marked incomplete.
namespace schaas::frontier {
namespace {

using support::Result;

/// Schedules of one cost.
struct Class {
  std::vector<schedule::Trace> traces;  ///< the first found first
  mpz_class members;
  std::uint64_t loop_trees = 0;
};

class ListedSearch {
 public:
  ListedSearch(const problem::Problem& problem, const Lister& lister, const Options& options,
               const Progress& progress, const support::Cancellation& cancellation)
      : problem_(problem),
        lister_(lister),
        options_(options),
        progress_(progress),
        cancellation_(cancellation),
        bounds_(problem),
        solver_(make_solver(options.solver, cancellation)) {}

  Result<Frontier> run() {
    SCHAAS_RETURN_IF_ERROR(check_satisfiable(problem_, *solver_, milliseconds_per_query(options_)));
    SCHAAS_RETURN_IF_ERROR(list());
    leave_out();
    SCHAAS_RETURN_IF_ERROR(prune());
    Seconds& s = frontier_.seconds;
    s.total = s.space + s.stage1 + s.stage3;
    return std::move(frontier_);
  }

 private:
  /// All schedules, by cost.
  Result<void> list() {
    report({"space"});
    SCHAAS_ASSIGN_OR_RETURN(space::ListedMembers found, lister_());
    for (space::ListedMember& member : found.members) {
      Class& same = classes_[member.cost];
      if (same.traces.size() < options_.members_per_class) same.traces.push_back(std::move(member.trace));
      same.members += member.schedules;
      same.loop_trees += member.loop_trees;
    }
    frontier_.complete = found.limited.empty();
    frontier_.limited = std::move(found.limited);
    frontier_.counts.space = found.schedules.get_str();
    frontier_.counts.states = found.steps;
    watch_.lap(frontier_.seconds.space);
    return {};
  }

  /// Stage 1: temporaries of too many indices, when asked for, and those that never fit.
  void leave_out() {
    report({"stage1"});
    for (auto entry = classes_.begin(); entry != classes_.end();) {
      const cost::Cost& cost = entry->first;
      std::optional<Certificate> why;
      if (options_.stage1 && cost::memory_depth(cost) > options_.memory_depth) {
        why = Certificate{Certificate::Kind::depth, std::nullopt,
                          "temporaries of more than " + std::to_string(options_.memory_depth) +
                              " indices were not allowed"};
      } else if (options_.max_temporary_elements != 0) {
        if (auto reason = never_fits(bounds_, cost.memory, options_.max_temporary_elements))
          why = Certificate{Certificate::Kind::volume, std::nullopt, std::move(*reason)};
      }
      if (why) frontier_.removals.push_back({cost, std::move(*why)});
      entry = why ? classes_.erase(entry) : std::next(entry);
    }
    Counts& counts = frontier_.counts;
    counts.classes_stage1 = counts.classes_stage2 = classes_.size();
    std::uint64_t trees = 0;
    for (const auto& [cost, members] : classes_) trees += members.loop_trees;
    counts.stage1 = counts.stage2 = std::to_string(trees);
    watch_.lap(frontier_.seconds.stage1);
  }

  /// Compares the classes pairwise and makes survivors of those that are kept.
  Result<void> prune() {
    std::vector<cost::Cost> costs;
    for (const auto& [cost, members] : classes_) costs.push_back(cost);
    if (costs.empty()) {
      return support::unsupported(
          "no-schedule",
          "no schedule reaches every operand in the order of its storage within the limits on "
          "temporaries; another format for one of the sparse tensors (the same levels, modes in "
          "another order) would work");
    }
    ProvenDominance dominance(bounds_, pairwise_samples, free_elements(problem_.profile),
                              options_.max_temporary_elements);
    Pairwise pairwise(bounds_, dominance, *solver_, options_, frontier_.counts);
    const support::Cancellation budget(cancellation_, watch_.end_of(0.8, options_.search_seconds));
    SCHAAS_ASSIGN_OR_RETURN(Pairwise::Outcome outcome, pairwise.prune(
                                                           std::move(costs),
                                                           [&](std::uint64_t done, std::uint64_t of) {
                                                             report({"stage3", done, of});
                                                           },
                                                           cancellation_, budget));
    frontier_.removals.insert(frontier_.removals.end(), std::make_move_iterator(outcome.removals.begin()),
                              std::make_move_iterator(outcome.removals.end()));
    frontier_.complete = frontier_.complete && outcome.complete;
    if (outcome.ended) say_limited();
    sort_classes(outcome.kept, dominance.samples().front());
    std::uint64_t trees = 0;
    for (cost::Cost& cost : outcome.kept) {
      Class& members = classes_.at(cost);
      trees += members.loop_trees;
      frontier_.survivors.push_back({entry_id(frontier_.survivors.size()), std::move(cost),
                                     members.members.get_str(), members.loop_trees,
                                     std::move(members.traces)});
    }
    frontier_.counts.classes_stage3 = frontier_.survivors.size();
    frontier_.counts.stage3 = std::to_string(trees);
    watch_.lap(frontier_.seconds.stage3);
    return {};
  }

  void say_limited() {
    frontier_.complete = false;
    frontier_.limited += std::string(frontier_.limited.empty() ? "" : "; ") +
                         "the time for the search ended while classes were compared: more are kept than can "
                         "win";
  }

  void report(const Stage& stage) const {
    if (progress_) progress_(stage);
  }

  const problem::Problem& problem_;
  const Lister& lister_;
  const Options& options_;
  const Progress& progress_;
  const support::Cancellation& cancellation_;
  LogBounds bounds_;
  std::unique_ptr<Solver> solver_;
  std::map<cost::Cost, Class> classes_;
  Frontier frontier_;
  Stopwatch watch_;
};

}  // namespace

Result<Frontier> compute_listed(const problem::Problem& problem, const Lister& lister, const Options& options,
                                const Progress& progress, const support::Cancellation& cancellation) {
  return ListedSearch(problem, lister, options, progress, cancellation).run();
}

}  // namespace schaas::frontier

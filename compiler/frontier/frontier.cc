#include "compiler/frontier/frontier.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "compiler/frontier/depth_poset.h"
#include "compiler/frontier/log_proof.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/solver.h"
#include "compiler/space/space.h"
#include "compiler/support/limits.h"

namespace schaas::frontier {
namespace {

constexpr std::size_t recursion_samples = 24;
constexpr std::size_t pairwise_samples = 256;
/// Operand orders searched first when all of them are too many.
constexpr std::size_t first_part = 256;
constexpr int any_depth = static_cast<int>(support::Limits::indices);

/// Adds the time since the last lap to a field of Seconds.
class Stopwatch {
 public:
  void lap(double& seconds) {
    const auto now = std::chrono::steady_clock::now();
    seconds += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The stages in order over one problem.
class Search {
 public:
  Search(const problem::Problem& problem, const Options& options, const Progress& progress,
         const support::Cancellation& cancellation)
      : problem_(problem),
        options_(options),
        progress_(progress),
        cancellation_(cancellation),
        papers_(problem.profile == problem::Profile::sparseauto),
        space_(problem, space_options(options.operand_orders)),
        bounds_(problem),
        solver_(options.solver ? options.solver(cancellation) : make_z3_solver()) {}

  support::Result<Frontier> run() {
    frontier_.complete = options_.operand_orders == 0;
    SCHAAS_RETURN_IF_ERROR(check_constraints());
    SCHAAS_RETURN_IF_ERROR(count_space());
    SCHAAS_RETURN_IF_ERROR(options_.stage2 ? by_depth_poset() : by_pareto());
    SCHAAS_RETURN_IF_ERROR(prove());
    SCHAAS_RETURN_IF_ERROR(list_members());
    Seconds& s = frontier_.seconds;
    s.total = s.space + s.stage1 + s.stage2 + s.stage3;
    return std::move(frontier_);
  }

 private:
  void report(const std::string& stage, std::uint64_t done, std::uint64_t of) const {
    if (progress_) progress_(stage, done, of);
  }

  support::Result<void> check_constraints() {
    ProvenDominance none(bounds_, 1, 0);
    if (Pairwise(bounds_, none, *solver_, options_).constraints_hold()) return {};
    auto error = support::invalid("contradiction", "no sizes satisfy all constraints together");
    for (const problem::Constraint& constraint : problem_.constraints) {
      error = support::noting(std::move(error), problem::print(constraint));
    }
    return error;
  }

  space::Options space_options(std::size_t operand_orders) const {
    space::Options result;
    result.rule = papers_ ? space::Rule::as_written : space::Rule::symmetric;
    result.max_operand_orders = operand_orders;
    return result;
  }

  /// Counts the whole space; when it has too many states, a part of it, and says so.
  support::Result<void> count_space() {
    report("space", 0, 0);
    auto members = space_.count(cancellation_);
    for (std::size_t orders = first_part;
         !members.ok() && members.error().code == "space-memory" && orders > 0; orders /= 4) {
      frontier_.complete = false;
      space_ = space::Space(problem_, space_options(orders));
      members = space_.count(cancellation_);
    }
    if (!members.ok()) return members.error();
    frontier_.counts.space = members->get_str();
    frontier_.counts.states = space_.states();
    watch_.lap(frontier_.seconds.space);
    return {};
  }

  int memory_depth() const { return options_.stage1 ? options_.memory_depth : any_depth; }

  /// Loop trees where the papers count them; more than can be counted leave the field empty.
  support::Result<void> count_trees(const std::vector<space::Space::Depths>& bounds, std::string& count) {
    if (!papers_) return {};
    auto trees = space_.loop_trees(bounds, cancellation_);
    if (trees.ok()) {
      count = std::to_string(*trees);
    } else if (trees.error().code != "loop-trees") {
      return trees.error();
    }
    return {};
  }

  /// The papers' stages 1 and 2 over every class.
  support::Result<void> by_depth_poset() {
    report("stage1", 0, 0);
    SCHAAS_ASSIGN_OR_RETURN(const std::vector<space::ClassCount> classes,
                            space_.classes(memory_depth(), cancellation_));
    mpz_class left = 0;
    for (const space::ClassCount& one : classes) left += one.members;
    const mpz_class deep = mpz_class(frontier_.counts.space) - left;
    if (deep != 0)
      summarise_depth(": " + deep.get_str() + " of " + frontier_.counts.space + " schedules were left out");
    frontier_.counts.classes_stage1 = classes.size();
    frontier_.counts.stage1 = std::to_string(classes.size());
    SCHAAS_RETURN_IF_ERROR(count_trees({{any_depth, memory_depth()}}, frontier_.counts.stage1));
    watch_.lap(frontier_.seconds.stage1);
    report("stage2", 0, classes.size());
    const auto front = depth_front(classes);
    std::vector<std::uint64_t> dropped(front.size(), 0);
    for (const space::ClassCount& one : classes) {
      const space::Space::Depths pair = depths_of(one.cost);
      const std::size_t by = covering(pair, front);
      if (front[by] == pair) {
        classes_.push_back(one.cost);
      } else {
        ++dropped[by];
      }
    }
    summarise_depth_poset(front, dropped);
    frontier_.counts.classes_stage2 = classes_.size();
    frontier_.counts.stage2 = std::to_string(classes_.size());
    SCHAAS_RETURN_IF_ERROR(count_trees(front, frontier_.counts.stage2));
    watch_.lap(frontier_.seconds.stage2);
    return {};
  }

  /// Straight from the complete space: only what is proven useless is dropped.
  support::Result<void> by_pareto() {
    report("stage1", 0, 0);
    ProvenDominance dominance(bounds_, recursion_samples, free_elements(problem_.profile));
    SCHAAS_ASSIGN_OR_RETURN(const space::Space::ParetoClasses pareto,
                            space_.pareto_classes(dominance, memory_depth(), cancellation_));
    classes_ = pareto.classes;
    frontier_.complete = frontier_.complete && !pareto.ended;
    if (options_.stage1) summarise_depth("");
    if (pareto.dropped != 0) {
      summarise(Certificate::Kind::log_proof,
                std::to_string(pareto.dropped) + " classes of partial schedules were dropped in " +
                    std::to_string(space_.states()) +
                    " states, each because another of its state is proven to take no more time and no "
                    "more memory at every allowed size");
    }
    Counts& counts = frontier_.counts;
    counts.classes_stage1 = counts.classes_stage2 = classes_.size();
    counts.stage1 = counts.stage2 = std::to_string(classes_.size());
    watch_.lap(frontier_.seconds.stage1);
    return {};
  }

  void summarise(Certificate::Kind kind, std::string argument) {
    frontier_.removals.push_back({{}, {kind, "", std::move(argument)}});
  }

  void summarise_depth(const std::string& consequence) {
    summarise(Certificate::Kind::depth, "temporaries of more than " + std::to_string(options_.memory_depth) +
                                            " indices were not allowed" + consequence);
  }

  void summarise_depth_poset(const std::vector<space::Space::Depths>& front,
                             const std::vector<std::uint64_t>& dropped) {
    for (std::size_t n = 0; n < front.size(); ++n) {
      if (dropped[n] == 0) continue;
      summarise(Certificate::Kind::depth_poset,
                std::to_string(dropped[n]) + " classes were dropped for those with nests of " +
                    std::to_string(front[n].loops) + " loops and temporaries of " +
                    std::to_string(front[n].memory) +
                    " indices: they have no fewer of either (a heuristic, no proof)");
    }
  }

  support::Result<void> prove() {
    if (classes_.empty()) {
      return support::unsupported(
          "no-schedule",
          "no loop order reaches every operand in the order of its storage; another format for "
          "one of the sparse operands (the same levels, modes in another order) would work");
    }
    ProvenDominance dominance(bounds_, pairwise_samples, free_elements(problem_.profile));
    Pairwise pairwise(bounds_, dominance, *solver_, options_);
    auto outcome = pairwise.prune(
        std::move(classes_), [&](std::uint64_t done, std::uint64_t of) { report("stage3", done, of); },
        cancellation_);
    if (!outcome.ok()) return outcome.error();
    reference_ = dominance.samples().front();
    classes_ = std::move(outcome->kept);
    std::move(outcome->removals.begin(), outcome->removals.end(), std::back_inserter(frontier_.removals));
    frontier_.complete = frontier_.complete && outcome->complete;
    Counts& counts = frontier_.counts;
    counts.classes_stage3 = classes_.size();
    counts.solver_queries = pairwise.counts().solver_queries;
    counts.solver_unknown = pairwise.counts().solver_unknown;
    counts.log_proofs = pairwise.counts().log_proofs;
    counts.witnesses = pairwise.counts().witnesses;
    watch_.lap(frontier_.seconds.stage3);
    return {};
  }

  support::Result<void> list_members() {
    std::sort(classes_.begin(), classes_.end(), [&](const cost::Cost& a, const cost::Cost& b) {
      const double ma = cost::evaluate_memory(a, reference_);
      const double mb = cost::evaluate_memory(b, reference_);
      if (ma != mb) return ma < mb;
      const double ta = cost::evaluate_time(a, reference_);
      const double tb = cost::evaluate_time(b, reference_);
      return ta != tb ? ta < tb : a < b;
    });
    std::uint64_t trees = 0;
    bool exact = true;
    for (const cost::Cost& cost : classes_) {
      report("members", frontier_.survivors.size(), classes_.size());
      SCHAAS_ASSIGN_OR_RETURN(const space::Space::Members members,
                              space_.members_of(cost, options_.members_per_class, cancellation_));
      SCHAAS_CHECK(members.members > 0 && !members.traces.empty(), "a class on the frontier has no member");
      Survivor survivor;
      survivor.id = "s" + std::to_string(frontier_.survivors.size() + 1);
      survivor.cost = cost;
      survivor.members = members.members.get_str();
      survivor.loop_trees = members.loop_trees;
      survivor.traces = members.traces;
      trees += members.loop_trees;
      exact = exact && members.loop_trees_exact;
      frontier_.survivors.push_back(std::move(survivor));
    }
    if (exact) frontier_.counts.stage3 = std::to_string(trees);
    watch_.lap(frontier_.seconds.stage3);
    return {};
  }

  const problem::Problem& problem_;
  const Options& options_;
  const Progress& progress_;
  const support::Cancellation& cancellation_;
  bool papers_;
  space::Space space_;
  LogBounds bounds_;
  std::unique_ptr<Solver> solver_;
  std::vector<cost::Cost> classes_;
  cost::Point reference_;
  Frontier frontier_;
  Stopwatch watch_;
};

}  // namespace

Options options_for(problem::Profile profile) {
  Options options;
  options.stage1 = options.stage2 = profile == problem::Profile::sparseauto;
  return options;
}

support::Result<Frontier> compute(const problem::Problem& problem, const Options& options,
                                  const Progress& progress, const support::Cancellation& cancellation) {
  return Search(problem, options, progress, cancellation).run();
}

}  // namespace schaas::frontier

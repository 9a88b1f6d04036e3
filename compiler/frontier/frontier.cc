#include "compiler/frontier/frontier.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "compiler/concrete_notation/copies/possible_copies.h"
#include "compiler/frontier/class_order.h"
#include "compiler/frontier/copied.h"
#include "compiler/frontier/depth_poset.h"
#include "compiler/frontier/listed.h"
#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/programs.h"
#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/frontier/proofs/solver.h"
#include "compiler/frontier/proofs/volume.h"
#include "compiler/frontier/published.h"
#include "compiler/frontier/search.h"
#include "compiler/frontier/stopwatch.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/space/listed/appending.h"
#include "compiler/space/space.h"
#include "compiler/support/limits.h"

// The search, stage by stage: the space is counted, folded to Pareto classes, compared pairwise, and members
// of the survivors are listed. The fold asks for proofs in logarithms alone; the solver is asked in the
// pairwise stage. Each stage has a part of the budget and a fallback: fewer operand orders, small
// temporaries, classes that are kept unproven. An answer that a budget cut is marked, and says what ended.
// Rejected as a fallback: the depth poset, which needs every class first and drops winners
// (docs/cost_model.md, "Budgets").
namespace schaas::frontier {
namespace {

constexpr std::size_t recursion_samples = 24;
/// Operand orders searched first when all of them are too many.
constexpr std::size_t first_part = 256;
/// Memory depth of the first fallback, when memory and when time was short.
constexpr int less_memory_depth = 2;
constexpr int less_time_depth = 1;
/// Classes whose members are listed however little time is left.
constexpr std::size_t min_listed = 8;

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
        solver_(make_solver(options.solver, cancellation)) {}

  support::Result<Frontier> run() {
    frontier_.complete = options_.operand_orders == 0;
    SCHAAS_RETURN_IF_ERROR(check_satisfiable(problem_, *solver_, milliseconds_per_query(options_)));
    SCHAAS_RETURN_IF_ERROR(papers_ ? by_published_stages() : by_proof());
    return finish();
  }

  /// The stages behind the fold, which these classes are taken from.
  support::Result<Frontier> run_among(std::vector<cost::Cost> classes) {
    SCHAAS_RETURN_IF_ERROR(check_satisfiable(problem_, *solver_, milliseconds_per_query(options_)));
    classes_ = std::move(classes);
    is_given_ = true;
    drop_what_never_fits();
    frontier_.counts.classes_stage1 = frontier_.counts.classes_stage2 = classes_.size();
    SCHAAS_RETURN_IF_ERROR(prove());
    return finish();
  }

 private:
  void report(const Stage& stage) const {
    if (progress_) progress_(stage);
  }

  support::Result<Frontier> finish() {
    SCHAAS_RETURN_IF_ERROR(list_members());
    add_copying();
    Seconds& s = frontier_.seconds;
    s.total = s.space + s.stage1 + s.stage2 + s.stage3;
    return std::move(frontier_);
  }

  space::Options space_options(std::size_t operand_orders) const {
    space::Options result;
    result.rule = papers_ ? space::Rule::as_written : space::Rule::symmetric;
    result.max_operand_orders = operand_orders;
    result.max_bytes = options_.search_bytes;
    return result;
  }

  /// The result is an error for lack of memory.
  template <class T>
  static bool too_large(const support::Result<T>& result) {
    return !result.ok() && result.error().code == "space-memory";
  }

  /// Counts the whole space; when it has too many states, or counting takes too much of the budget, a part of
  /// it, and says so.
  support::Result<void> count_space() {
    report({"space"});
    const auto count = [&] {
      const support::Cancellation budget(cancellation_, part_of_budget(0.3));
      return space_.count(budget, [&] { report({"space", 0, 0, space_.states()}); });
    };
    auto members = count();
    for (std::size_t orders = first_part; !members.ok() && orders > 0; orders /= 4) {
      SCHAAS_RETURN_IF_ERROR(cancellation_.check("counting schedules"));
      if (members.error().family != support::Family::exhausted) break;
      frontier_.complete = false;
      frontier_.limited = members.error().message + ": the likeliest " + std::to_string(orders) +
                          " operand orders were searched; allow more time or memory";
      space_ = space::Space(problem_, space_options(orders));
      members = count();
    }
    if (!members.ok()) return members.error();
    frontier_.counts.space = members->get_str();
    frontier_.counts.states = space_.states();
    SCHAAS_RETURN_IF_ERROR(count_options());
    watch_.lap(frontier_.seconds.space);
    return {};
  }

  /// Counts what each option adds to the whole space. One too large to be counted is left out.
  support::Result<void> count_options() {
    if (problem_.space.empty() || options_.operand_orders != 0) return {};
    std::vector<std::pair<std::string, problem::SpaceOptions>> parts{{"plain", {}}};
    for (const auto option : problem_.space.list()) {
      if (option != problem::SpaceOption::copies && option != problem::SpaceOption::free_copies)
        parts.emplace_back(problem::name(option), option);
    }
    for (const auto& [name, options] : parts) {
      problem::Problem part = problem_;
      part.space = options;
      const auto members = space::Space(part, space_options(0)).count(cancellation_);
      if (members.ok()) {
        frontier_.counts.spaces.emplace_back(name, members->get_str());
      } else if (!too_large(members)) {
        return members.error();
      }
    }
    return {};
  }

  int memory_depth() const { return options_.stage1 ? options_.memory_depth : any_depth; }

  /// The papers' stages; what they leave is listed in the as-written space.
  support::Result<void> by_published_stages() {
    Options options = options_;
    auto done = published_stages(problem_, options, bounds_, *solver_, progress_, cancellation_);
    for (std::size_t orders = first_part; too_large(done) && orders > 0; orders /= 4) {
      frontier_.complete = false;
      options.operand_orders = orders;
      space_ = space::Space(problem_, space_options(orders));
      done = published_stages(problem_, options, bounds_, *solver_, progress_, cancellation_);
    }
    SCHAAS_ASSIGN_OR_RETURN(Published published, std::move(done));
    SCHAAS_RETURN_IF_ERROR(some_schedule(published.classes));
    classes_ = std::move(published.classes);
    frontier_.removals = std::move(published.removals);
    frontier_.counts = std::move(published.counts);
    frontier_.seconds = published.seconds;
    frontier_.complete = frontier_.complete && published.complete;
    reference_ = bounds_.samples(1).front();
    watch_ = {};
    return {};
  }

  support::Result<void> by_proof() {
    SCHAAS_RETURN_IF_ERROR(count_space());
    SCHAAS_RETURN_IF_ERROR(by_pareto());
    return prove();
  }

  /// Refuses a problem that no schedule computes.
  static support::Result<void> some_schedule(const std::vector<cost::Cost>& classes) {
    if (!classes.empty()) return {};
    return support::unsupported(
        "no-schedule",
        "no loop order reaches every operand in the order of its storage; another format for "
        "one of the sparse operands (the same levels, modes in another order) would work");
  }

  /// Straight from the complete space: only what is proven useless, or never fits, is dropped.
  support::Result<void> by_pareto() {
    report({"stage1"});
    ProvenDominance dominance(bounds_, recursion_samples, free_elements(problem_.profile),
                              options_.max_temporary_elements);
    SCHAAS_RETURN_IF_ERROR(fold(dominance));
    if (options_.stage1) {
      summarise(
          Certificate::Kind::depth,
          "temporaries of more than " + std::to_string(options_.memory_depth) + " indices were not allowed");
    }
    summarise(dominance.findings());
    drop_what_never_fits();
    frontier_.counts.classes_stage1 = frontier_.counts.classes_stage2 = classes_.size();
    watch_.lap(frontier_.seconds.stage1);
    return {};
  }

  /// Folds the whole space within the budget, as many operand orders as there is time and memory for. When
  /// memory ended that, all orders follow once more without temporaries of three and more indices, which need
  /// less. When time did, without those of two and more: a larger temporary wins seldom, so breadth is worth
  /// more than depth. The classes of both are the answer. When no order could be finished, ever fewer orders
  /// with small temporaries are tried.
  support::Result<void> fold(ProvenDominance& dominance) {
    auto whole = fold_part(dominance, memory_depth(), 0.6);
    const bool partial = !whole.ok() || whole->ended;
    if (!partial) return take(std::move(*whole));
    const support::Diagnostic ended = whole.ok() ? *whole->ended : whole.error();
    SCHAAS_RETURN_IF_ERROR(cancellation_.check("pruning cost classes"));
    if (ended.family != support::Family::exhausted) return ended;
    frontier_.complete = false;
    frontier_.limited = ended.message + ": ";
    if (whole.ok()) {
      frontier_.limited += "of " + std::to_string(operand_orders_) + " operand orders the likeliest " +
                           std::to_string(whole->operand_orders) + " were searched";
      SCHAAS_RETURN_IF_ERROR(take(std::move(*whole)));
    }
    const int small_depth = ended.code == "space-memory" ? less_memory_depth : less_time_depth;
    if (memory_depth() > small_depth) {
      auto shallow = fold_part(dominance, small_depth, 0.5);
      for (std::size_t orders = 16; !shallow.ok() && classes_.empty() && orders > 0; orders /= 4) {
        SCHAAS_RETURN_IF_ERROR(cancellation_.check("pruning cost classes"));
        space_ = space::Space(problem_, space_options(orders));
        shallow = fold_part(dominance, small_depth, 0.5);
      }
      if (shallow.ok()) {
        frontier_.limited += std::string(whole.ok() ? ", and " : "") + "of " +
                             (shallow->ended ? std::to_string(shallow->operand_orders) : "all") +
                             " operand orders the schedules without temporaries of more than " +
                             std::to_string(small_depth) + " indices";
        SCHAAS_RETURN_IF_ERROR(take(std::move(*shallow)));
      }
    }
    if (classes_.empty()) return ended;
    frontier_.limited += "; allow more time or memory, or tighten the constraints";
    return {};
  }

  /// The end of a part of the time budget that is left; none without a budget.
  std::optional<support::Cancellation::Clock::time_point> part_of_budget(double part) const {
    return watch_.end_of(part, options_.search_seconds);
  }

  /// One fold with at most `part` of what is left of the time budget.
  support::Result<space::Space::ParetoClasses> fold_part(ProvenDominance& dominance, int depth, double part) {
    const support::Cancellation budget(cancellation_, part_of_budget(part));
    return space_.pareto_classes(dominance, depth, budget, [&](const space::Space::ParetoProgress& now) {
      operand_orders_ = now.of_operand_orders;
      report({"stage1", now.operand_orders, now.of_operand_orders, now.states, now.classes,
              now.members.get_str()});
    });
  }

  /// Joins the classes of one fold with those of others.
  support::Result<void> take(space::Space::ParetoClasses found) {
    classes_.insert(classes_.end(), std::make_move_iterator(found.classes.begin()),
                    std::make_move_iterator(found.classes.end()));
    std::sort(classes_.begin(), classes_.end());
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
    dropped_ += found.dropped;
    folded_ += found.states;
    return {};
  }

  /// The sums of several temporaries, and classes of several.
  void drop_what_never_fits() {
    if (options_.max_temporary_elements == 0) return;
    std::erase_if(classes_, [&](const cost::Cost& cost) {
      auto reason = never_fits(bounds_, cost.memory, options_.max_temporary_elements);
      if (!reason) return false;
      frontier_.removals.push_back({cost, {Certificate::Kind::volume, std::nullopt, std::move(*reason)}});
      return true;
    });
  }

  /// Sums up what the recursion dropped without listing it.
  void summarise(const Findings& findings) {
    for (cost::Term term : findings.too_large) {
      const mpq_class least = bounds_.least(term);
      const mpz_class whole = least.get_num() / least.get_den();
      summarise(Certificate::Kind::volume,
                Argument("schedules with a temporary of ")
                    << memory_sum({term})
                    << " elements were left out: at every allowed size that is at least " << whole.get_str()
                    << ", more than the limit of " << std::to_string(options_.max_temporary_elements));
    }
    for (const auto& [sums, how] : findings.proofs) {
      frontier_.proofs.push_back(
          {how == SumProof::termwise ? Certificate::Kind::termwise : Certificate::Kind::log_proof, sums.first,
           sums.second});
    }
    frontier_.more_proofs = findings.more_proofs;
    if (dropped_ != 0) {
      summarise(Certificate::Kind::log_proof,
                std::to_string(dropped_) + " classes of partial schedules were dropped in " +
                    std::to_string(folded_) +
                    " states, each because another of its state is proven to take no more time and no "
                    "more memory at every allowed size (" +
                    std::to_string(findings.proofs.size() + findings.more_proofs) +
                    " different pairs of sums)");
    }
  }

  void summarise(Certificate::Kind kind, Argument argument) {
    frontier_.removals.push_back({{}, {kind, std::nullopt, std::move(argument)}});
  }

  /// Compares the classes that the fold left. Those that time was too short for are kept.
  support::Result<void> prove() {
    SCHAAS_RETURN_IF_ERROR(some_schedule(classes_));
    ProvenDominance dominance(bounds_, pairwise_samples, free_elements(problem_.profile));
    Pairwise pairwise(bounds_, dominance, *solver_, options_, frontier_.counts);
    const support::Cancellation budget(cancellation_, part_of_budget(0.8));
    auto outcome = pairwise.prune(
        std::move(classes_),
        [&](std::uint64_t done, std::uint64_t of) {
          report({"stage3", done, of});
        },
        cancellation_, budget);
    if (!outcome.ok()) return outcome.error();
    if (outcome->ended)
      say_limited(
          "the time for the search ended while classes were compared: more are kept "
          "than can win");
    reference_ = dominance.samples().front();
    classes_ = std::move(outcome->kept);
    std::move(outcome->removals.begin(), outcome->removals.end(), std::back_inserter(frontier_.removals));
    frontier_.complete = frontier_.complete && outcome->complete;
    frontier_.counts.classes_stage3 = classes_.size();
    watch_.lap(frontier_.seconds.stage3);
    return {};
  }

  void say_limited(const std::string& sentence) {
    frontier_.complete = false;
    frontier_.limited += (frontier_.limited.empty() ? "" : "; ") + sentence;
  }

  /// Members of all classes, the fastest first; when the time is over, of a few.
  support::Result<void> list_members() {
    const support::Cancellation budget(cancellation_, part_of_budget(1));
    std::vector<cost::Cost> fastest = classes_;
    std::stable_sort(fastest.begin(), fastest.end(), [&](const cost::Cost& a, const cost::Cost& b) {
      return cost::evaluate_time(a, reference_) < cost::evaluate_time(b, reference_);
    });
    std::map<cost::Cost, space::Space::Members> listed;
    for (const cost::Cost& cost : fastest) {
      report({"members", listed.size(), classes_.size()});
      if (listed.size() >= min_listed && !budget.check("listing members").ok()) break;
      auto members = space_.members_of(cost, options_.members_per_class, cancellation_);
      if (too_large(members)) continue;
      if (!members.ok()) return members.error();
      listed.emplace(cost, std::move(*members));
    }
    SCHAAS_RETURN_IF_ERROR(cancellation_.check("listing members"));
    const std::size_t left_out = classes_.size() - listed.size();
    if (left_out != 0) {
      if (listed.empty())
        return support::exhausted("space-memory",
                                  "listing schedules takes more memory than the limit of the "
                                  "search");
      say_limited(std::to_string(left_out) +
                  " classes were left out when the time or the memory for listing "
                  "their schedules ended");
    }
    take_members(std::move(listed));
    watch_.lap(frontier_.seconds.stage3);
    return {};
  }

  /// Makes survivors of the listed classes, in the order of a frontier.
  void take_members(std::map<cost::Cost, space::Space::Members> listed) {
    sort_classes(classes_, reference_);
    std::uint64_t trees = 0;
    bool exact = true;
    for (const cost::Cost& cost : classes_) {
      const auto found = listed.find(cost);
      if (found == listed.end()) continue;
      space::Space::Members& members = found->second;
      if (is_given_ && members.members == 0) continue;
      if (papers_ && members.members == 0) {
        frontier_.removals.push_back({cost,
                                      {Certificate::Kind::published, std::nullopt,
                                       "every schedule of this class leaves out an index, as some of the "
                                       "published space do: none can be run"}});
        continue;
      }
      SCHAAS_CHECK(members.members > 0 && !members.traces.empty(), "a class on the frontier has no member");
      Survivor survivor;
      survivor.id = entry_id(frontier_.survivors.size());
      survivor.cost = cost;
      survivor.members = members.members.get_str();
      survivor.loop_trees = members.loop_trees;
      survivor.traces = std::move(members.traces);
      trees += members.loop_trees;
      exact = exact && members.loop_trees_exact;
      frontier_.survivors.push_back(std::move(survivor));
    }
    if (exact && !papers_) frontier_.counts.stage3 = std::to_string(trees);
    if (!papers_) frontier_.counts.classes_stage3 = frontier_.survivors.size();
  }

  /// The recursion does not know of copies: they are made beside every schedule, and cost each the same.
  void add_copying() {
    const cost::Cost copies = cost::copying(problem_);
    const auto add = [&](cost::Cost& cost) {
      for (const auto& [sum, more] : {std::pair{&cost.time, &copies.time}, {&cost.memory, &copies.memory}}) {
        sum->insert(sum->end(), more->begin(), more->end());
        std::sort(sum->begin(), sum->end());
      }
    };
    for (Survivor& survivor : frontier_.survivors) add(survivor.cost);
    for (Removal& removal : frontier_.removals) {
      if (!removal.summary()) add(removal.cost);
    }
  }

  std::size_t operand_orders_ = 0;
  std::uint64_t dropped_ = 0, folded_ = 0;  ///< in all folds
  const problem::Problem& problem_;
  const Options& options_;
  const Progress& progress_;
  const support::Cancellation& cancellation_;
  bool papers_;
  bool is_given_ = false;  ///< the classes, by the caller
  space::Space space_;
  LogBounds bounds_;
  std::unique_ptr<Solver> solver_;
  std::vector<cost::Cost> classes_;
  cost::Point reference_;
  Frontier frontier_;
  Stopwatch watch_;
};

/// Schedules with a sparse result that are listed one by one, some 2 microseconds each.
constexpr std::size_t max_listed = 1'000'000;

/// All schedules when they can be listed in a third of the time; else those on the frontier of the schedules
/// that append in order, and those on the frontier of the dense result, completed with workspaces.
support::Result<Frontier> compute_appending(const problem::Problem& problem, const Options& options,
                                            const Progress& progress,
                                            const support::Cancellation& cancellation) {
  const Stopwatch watch;
  const auto in_part = [&](double part) {
    Options result = options;
    if (options.search_seconds > 0)
      result.search_seconds = std::max(0.01, part * watch.left_of(options.search_seconds));
    return result;
  };
  const support::Cancellation budget(cancellation, watch.end_of(1.0 / 3, options.search_seconds));
  auto all = space::appending_members(problem, max_listed, options.members_per_class, budget);
  SCHAAS_RETURN_IF_ERROR(cancellation.check("listing the schedule space"));
  if (!all.ok() && all.error().family != support::Family::exhausted) return all.error();
  if (all.ok() && *all) {
    const auto list = [&]() -> support::Result<space::ListedMembers> { return std::move(**all); };
    return compute_listed(problem, list, in_part(1), progress, cancellation);
  }
  std::vector<schedule::Trace> traces;
  const auto add = [&](const Frontier& found) {
    for (const Survivor& survivor : found.survivors)
      traces.insert(traces.end(), survivor.traces.begin(), survivor.traces.end());
  };
  const auto in_order = Search(problem, in_part(1.0 / 3), progress, cancellation).run();
  if (!in_order.ok() && in_order.error().code != "no-schedule") return in_order;
  if (in_order.ok()) add(*in_order);
  SCHAAS_ASSIGN_OR_RETURN(const Frontier dense,
                          search(space::with_dense_result(problem), in_part(0.5), progress, cancellation));
  add(dense);
  const auto list = [&]() -> support::Result<space::ListedMembers> {
    space::ListedMembers found =
        space::listed(traces, problem, {cancellation, watch.end_of(0.5, options.search_seconds)});
    found.schedules = mpz_class(dense.counts.space);
    found.limited =
        "the result is sparse: of " + dense.counts.space +
        " schedules, with a workspace where they need one, those were searched that append in order "
        "or are on the frontier of the dense result";
    return found;
  };
  return compute_listed(problem, list, in_part(1), progress, cancellation);
}

support::Result<Frontier> compute_contraction(const problem::Problem& problem, const Options& options,
                                              const Progress& progress,
                                              const support::Cancellation& cancellation) {
  const bool whole = problem.profile == problem::Profile::standard && options.operand_orders == 0;
  if (whole && space::appends(problem)) return compute_appending(problem, options, progress, cancellation);
  return Search(problem, options, progress, cancellation).run();
}

/// Computes the frontier of a problem, or of one with some of its copies.
support::Result<Frontier> compute_plain(const problem::Problem& problem, const Options& options,
                                        const Progress& progress, const support::Cancellation& cancellation) {
  if (const auto factors = problem::factors_of(problem))
    return compute_plain(factors->contraction, options, progress, cancellation);
  if (!problem::is_contraction(problem)) {
    const auto contraction = [&](const problem::Problem& product) {
      Options part = options;
      // A product inside a program is one of several questions.
      part.search_seconds /= 8;
      return compute_plain(product, part, {}, cancellation);
    };
    return compute_program(problem, options, contraction, progress, cancellation);
  }
  return compute_with_copies(problem, options, compute_contraction, progress, cancellation);
}

}  // namespace

Options options_for(problem::Profile profile) {
  Options options;
  options.stage1 = options.stage2 = profile == problem::Profile::sparseauto;
  if (options.stage1) {
    options.max_temporary_elements = 0;
    options.search_seconds = 0;
  }
  return options;
}

support::Result<Frontier> compute_among(const problem::Problem& problem, std::vector<cost::Cost> classes,
                                        const Options& options, const Progress& progress,
                                        const support::Cancellation& cancellation) {
  return Search(problem, options, progress, cancellation).run_among(std::move(classes));
}

support::Result<Frontier> search(const problem::Problem& problem, const Options& options,
                                 const Progress& progress, const support::Cancellation& cancellation) {
  // The first parts of a search go without copies: they are to come early.
  if (!problem.space.has_copies() || options.operand_orders != 0)
    return compute_plain(problem, options, progress, cancellation);
  return compute_sets(problem, concrete_notation::copy_sets(problem), options, compute_plain, progress,
                      cancellation);
}

}  // namespace schaas::frontier

#include "compiler/frontier/explain.h"

#include <algorithm>
#include <limits>

#include "compiler/frontier/pairwise.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/frontier/proofs/volume.h"
#include "compiler/frontier/proofs/witness.h"

// Explanations, found again from costs alone. For a removed schedule each survivor is tried as the winner,
// first without the solver. Witnesses are whole sizes, compared in fractions, so they can be checked by hand.
// Wins come from samples, on one and on many threads, since a schedule with little serial work may need
// threads to win. Finding no sizes proves nothing and is told as such.
namespace schaas::frontier {
namespace {

/// Threads that a schedule with little serial work may need to win.
constexpr int many_threads = 64;

/// The sums schedules are compared by.
struct Objectives {
  std::vector<cost::Term> time, memory;  ///< memory without free temporaries
  std::vector<cost::Term> serial;        ///< terms of time that are left on ever more threads
};
Objectives objectives_of(const cost::Cost& cost, ProvenDominance& dominance) {
  const auto serial = cost::serial_terms(cost.time);
  Objectives result{cost.time, {}, {serial.begin(), serial.end()}};
  std::copy_if(cost.memory.begin(), cost.memory.end(), std::back_inserter(result.memory),
               [&](cost::Term term) { return !dominance.free(term); });
  return result;
}

}  // namespace

class Explainer::Implementation {
 public:
  Implementation(const problem::Problem& problem, const Frontier& frontier, const Options& options,
                 const support::Cancellation& cancellation)
      : frontier_(frontier),
        options_(options),
        cancellation_(cancellation),
        bounds_(problem),
        dominance_(bounds_, pairwise_samples, free_elements(problem.profile)),
        solver_(make_solver(options.solver, cancellation)),
        search_(bounds_, solver_.get(), options.solver_milliseconds) {}

  support::Result<Explanation> explain(const cost::Cost& cost) {
    Explanation result;
    for (std::size_t n = 0; n < frontier_.survivors.size(); ++n) {
      if (frontier_.survivors[n].cost != cost) continue;
      result.verdict = Explanation::Verdict::survivor;
      result.survivor = n;
    }
    if (result.verdict != Explanation::Verdict::survivor) {
      SCHAAS_ASSIGN_OR_RETURN(const bool covered, find_winner(cost, result));
      if (covered) return result;
      if (auto reason = limit_that_dropped(cost)) {
        result.verdict = Explanation::Verdict::left_out;
        result.certificate = std::move(*reason);
      }
    }
    SCHAAS_RETURN_IF_ERROR(compare_with_competitors(cost, result));
    return result;
  }

 private:
  /// Proofs without the solver for every survivor before the solver is asked about any.
  support::Result<bool> find_winner(const cost::Cost& cost, Explanation& result) {
    Options without = options_;
    without.solver_total_milliseconds = 0;
    for (const Options& options : {without, options_}) {
      Counts uncounted;
      Pairwise pairwise(bounds_, dominance_, *solver_, options, uncounted);
      for (std::size_t n = 0; n < frontier_.survivors.size(); ++n) {
        SCHAAS_RETURN_IF_ERROR(cancellation_.check("explaining a schedule"));
        auto proof = pairwise.proof(frontier_.survivors[n].cost, cost);
        if (!proof) continue;
        result.verdict = Explanation::Verdict::removed;
        result.survivor = n;
        result.certificate = std::move(*proof);
        return true;
      }
    }
    return false;
  }

  /// Returns the limit or heuristic of the search that left the cost out, in the order of the stages.
  std::optional<Certificate> limit_that_dropped(const cost::Cost& cost) {
    for (const Removal& removal : frontier_.removals) {
      if (!removal.summary() && removal.cost == cost) return removal.certificate;  // the papers' own test
    }
    if (options_.max_temporary_elements > 0) {
      if (auto reason = never_fits(bounds_, cost.memory, options_.max_temporary_elements))
        return Certificate{Certificate::Kind::volume, std::nullopt, std::move(*reason)};
    }
    const int depth = cost::memory_depth(cost);
    if (options_.stage1 && depth > options_.memory_depth) {
      return Certificate{Certificate::Kind::depth, std::nullopt,
                         "it has a temporary of " + std::to_string(depth) +
                             " indices; the search was limited to " + std::to_string(options_.memory_depth)};
    }
    if (!options_.stage2) return std::nullopt;
    for (const Survivor& survivor : frontier_.survivors) {
      const int loops = cost::loop_depth(survivor.cost), memory = cost::memory_depth(survivor.cost);
      const bool covers = loops <= cost::loop_depth(cost) && memory <= depth &&
                          (loops < cost::loop_depth(cost) || memory < depth);
      if (!covers) continue;
      return Certificate{Certificate::Kind::depth_poset, survivor.cost,
                         "it has nests of " + std::to_string(cost::loop_depth(cost)) +
                             " loops and temporaries of " + std::to_string(depth) + " indices, `" +
                             survivor.id + "` nests of " + std::to_string(loops) + " and temporaries of " +
                             std::to_string(memory) + " (a heuristic, no proof)"};
    }
    return std::nullopt;
  }

  /// Looks for sizes at which the cost is less than each survivor's: in time, in memory, in serial time.
  support::Result<void> compare_with_competitors(const cost::Cost& cost, Explanation& result) {
    const Objectives ours = objectives_of(cost, dominance_);
    for (std::size_t n = 0; n < frontier_.survivors.size(); ++n) {
      if (result.verdict == Explanation::Verdict::survivor && n == result.survivor) continue;
      SCHAAS_RETURN_IF_ERROR(cancellation_.check("explaining a schedule"));
      const Objectives theirs = objectives_of(frontier_.survivors[n].cost, dominance_);
      auto sizes = search_.less(ours.time, theirs.time);
      if (!sizes) sizes = search_.less(ours.memory, theirs.memory);
      const bool serial = !sizes;
      if (serial) sizes = search_.less(ours.serial, theirs.serial);
      Competitor competitor{n, std::nullopt};
      if (sizes) {
        const ExactValues values(*sizes, bounds_.problem(), bounds_.variables());
        const auto time = [&](const Objectives& of) {
          return values.of(serial ? of.serial : of.time).get_d();
        };
        const double memory = values.of(ours.memory).get_d();
        competitor.witness = Witness{
            std::move(*sizes), time(ours), memory, time(theirs), values.of(theirs.memory).get_d(), serial};
      }
      result.competitors.push_back(std::move(competitor));
    }
    return {};
  }

  const Frontier& frontier_;
  const Options options_;
  const support::Cancellation& cancellation_;
  LogBounds bounds_;
  ProvenDominance dominance_;
  std::unique_ptr<Solver> solver_;
  WitnessSearch search_;
};

Explainer::Explainer(const problem::Problem& problem, const Frontier& frontier, const Options& options,
                     const support::Cancellation& cancellation)
    : implementation_(std::make_unique<Implementation>(problem, frontier, options, cancellation)) {}
Explainer::~Explainer() = default;
support::Result<Explanation> Explainer::explain(const cost::Cost& cost) {
  return implementation_->explain(cost);
}

namespace {

/// Divides both sums by the variables that all their terms have.
void cancel_common_factor(std::vector<cost::Term>& left, std::vector<cost::Term>& right) {
  cost::Term factor = cost::variables_mask;
  for (const auto* side : {&left, &right}) {
    for (cost::Term term : *side) factor &= term;
  }
  for (auto* side : {&left, &right}) {
    for (cost::Term& term : *side) term &= ~factor;
  }
}

Argument less_time(Objectives ours, Objectives theirs) {
  cancel_common_terms(ours.time, theirs.time);
  cancel_common_factor(ours.time, theirs.time);
  return Argument() << time_sum(ours.time) << " < " << time_sum(theirs.time);
}

Argument less_memory(Objectives ours, Objectives theirs) {
  cancel_common_terms(ours.memory, theirs.memory);
  return Argument() << memory_sum(ours.memory) << " < " << memory_sum(theirs.memory) << " elements";
}

class Wins {
 public:
  Wins(const problem::Problem& problem, const Frontier& frontier)
      : bounds_(problem),
        dominance_(bounds_, 1, free_elements(problem.profile)),
        search_(bounds_, nullptr, 0),
        best_(frontier.survivors.size()) {
    for (const Survivor& survivor : frontier.survivors)
      objectives_.push_back(objectives_of(survivor.cost, dominance_));
    for (const int threads : {1, many_threads}) {
      for (const auto& sample : search_.samples()) consider(sample, threads);
    }
  }

  bool known(std::size_t self) const { return best_[self].sizes.has_value(); }

  /// Wins in no sample: sizes at which it beats each survivor in turn are samples, too.
  void look_harder(std::size_t self, const support::Cancellation& budget) {
    for (std::size_t n = 0; n < objectives_.size() && !known(self); ++n) {
      if (n == self) continue;
      if (!budget.check("finding the sizes schedules win at").ok()) return;
      auto sizes = search_.less(objectives_[self].time, objectives_[n].time);
      if (!sizes) sizes = search_.less(objectives_[self].memory, objectives_[n].memory);
      if (!sizes) sizes = search_.less(objectives_[self].serial, objectives_[n].serial);
      if (!sizes) continue;
      const cost::Point point = ExactValues(*sizes, bounds_.problem(), bounds_.variables()).point();
      for (const int threads : {1, many_threads}) consider({*sizes, point}, threads);
    }
  }

  Win of(std::size_t self) const {
    const Best& best = best_[self];
    if (!best.sizes) return {};
    Win win{*best.sizes, best.fastest, best.time, best.memory, best.competitor, {}, best.threads};
    if (win.competitor) {
      const Objectives &ours = objectives_[self], &theirs = objectives_[*win.competitor];
      win.condition = win.fastest ? less_time(ours, theirs) : less_memory(ours, theirs);
      if (win.fastest && win.threads > 1) win.condition << " on " + std::to_string(win.threads) + " threads";
    }
    return win;
  }

 private:
  /// Sizes at which a survivor leads most clearly so far.
  struct Best {
    std::optional<Sizes> sizes;
    bool fastest = false;
    double lead = 0;  ///< fastest: how many times it is faster than the next; else memory it saves
    double time = 0, memory = 0;
    std::optional<std::size_t> competitor;
    int threads = 1;
  };

  /// A win on one thread says more than one on many.
  void keep(std::size_t self, Best found, const Sizes& sizes) {
    Best& best = best_[self];
    if (best.sizes && best.threads < found.threads) return;
    const bool better = found.fastest == best.fastest ? found.lead > best.lead : found.fastest;
    if (best.sizes && !better) return;
    found.sizes = sizes;
    best = std::move(found);
  }

  /// Whoever wins at these sizes: the fastest, and each that is faster than all that need no more memory.
  void consider(const WitnessSearch::Sample& sample, int threads) {
    struct Value {
      double memory = 0, time = 0;
      std::size_t self = 0;
      auto operator<=>(const Value&) const = default;
    };
    std::vector<Value> values;
    for (std::size_t n = 0; n < objectives_.size(); ++n) {
      values.push_back({cost::evaluate_memory({{}, objectives_[n].memory}, sample.point),
                        cost::evaluate_time({objectives_[n].time, {}}, sample.point, threads), n});
    }
    std::sort(values.begin(), values.end());
    const auto faster = [](const Value& a, const Value& b) { return a.time < b.time; };
    const Value fastest = *std::min_element(values.begin(), values.end(), faster);
    std::optional<Value> second;
    for (const Value& value : values) {
      if (value.self != fastest.self && (!second || faster(value, *second))) second = value;
    }
    // Sizes at which two are equally fast tell for neither.
    const bool alone = !second || fastest.time < second->time;
    if (alone) {
      Best found{{}, true,   second ? second->time / fastest.time : 1, fastest.time, fastest.memory,
                 {}, threads};
      if (second) found.competitor = second->self;
      keep(fastest.self, std::move(found), sample.sizes);
    }
    double least = std::numeric_limits<double>::infinity();  // time of those with no more memory
    for (std::size_t n = 0; n < values.size(); ++n) {
      const Value& own = values[n];
      const bool tied =
          n + 1 < values.size() && values[n + 1].memory == own.memory && values[n + 1].time == own.time;
      const bool leads = alone && own.self == fastest.self;
      if (own.time < least && !tied && !leads) {
        const Value& competitor = own.self == fastest.self ? *second : fastest;
        const double saved = competitor.memory / std::max(1.0, own.memory);
        keep(own.self, {{}, false, saved, own.time, own.memory, competitor.self, threads}, sample.sizes);
      }
      least = std::min(least, own.time);
    }
  }

  LogBounds bounds_;
  ProvenDominance dominance_;
  WitnessSearch search_;
  std::vector<Objectives> objectives_;
  std::vector<Best> best_;  ///< by survivor
};

}  // namespace

std::vector<Win> wins(const problem::Problem& problem, const Frontier& frontier,
                      const support::Cancellation& budget) {
  Wins all(problem, frontier);
  std::vector<Win> result;
  for (std::size_t n = 0; n < frontier.survivors.size(); ++n) {
    all.look_harder(n, budget);
    result.push_back(all.of(n));
  }
  return result;
}

}  // namespace schaas::frontier

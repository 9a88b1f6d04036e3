#include "compiler/frontier/published.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/frontier/budgeted_solver.h"
#include "compiler/frontier/depth_poset.h"
#include "compiler/frontier/proofs/log_proof.h"
#include "compiler/frontier/stopwatch.h"
#include "compiler/space/space.h"

// SparseAuto's stages 1 to 3 (section 5.2, table 3), apart from the sound search because their test is
// another one. It is neither sound nor transitive, so the outcome may hang on the order of pairs. Ours begins
// with the fastest at the middle of the allowed sizes. Samples and proofs in logarithms spare the solver
// questions whose answers they know. docs/cost_model.md says why counts differ from the paper's.
namespace schaas::frontier {
namespace {

using Terms = std::vector<cost::Term>;

/// The classes of one cost as the papers' stage 3 sees it: every loop at its extent, scalars free.
struct Group {
  Terms time, memory;
  std::vector<double> time_values, memory_values;  ///< at the samples
  std::vector<cost::Cost> pairs;                   ///< with fibers, memory in preorder
};

/// True when a is less than b by more than rounding.
bool less(double a, double b) { return a < b * (1 - 1e-9); }

/// The papers' stage 3.
class PublishedTest {
 public:
  /// Adds to `counts` by which argument pairs are settled.
  PublishedTest(LogBounds& bounds, Solver& solver, const Options& options, Counts& counts)
      : bounds_(bounds),
        counts_(counts),
        solver_(solver, options, counts),
        samples_(bounds.samples(pairwise_samples)) {
    solver.assume(bounds_.solver_variables(), bounds_.relations());
    const cost::Variables& variables = bounds_.variables();
    for (const cost::Variable& fiber : variables.fibers) {
      const auto at = std::find_if(variables.extents.begin(), variables.extents.end(),
                                   [&](const cost::Variable& extent) { return extent.index == fiber.index; });
      extent_of_fiber_.push_back(cost::Term{1} << (at - variables.extents.begin()));
    }
  }

  /// Compares each pair of groups that are left, best first, and keeps the pairs of those that nothing
  /// removes.
  support::Result<void> prune(const std::vector<cost::Cost>& pairs, const Progress& progress,
                              const support::Cancellation& cancellation) {
    std::vector<Group> groups = groups_of(pairs);
    std::vector<bool> removed(groups.size(), false);
    for (std::size_t s = 0; s < groups.size(); ++s) {
      if (progress) progress({"stage3", s, groups.size()});
      for (std::size_t c = s + 1; c < groups.size() && !removed[s]; ++c) {
        if (removed[c]) continue;
        SCHAAS_RETURN_IF_ERROR(cancellation.check("comparing cost classes"));
        switch (loser(groups[s], groups[c])) {
          case Loser::none:
            break;
          case Loser::first:
            removed[s] = true;
            note(groups[s], groups[c]);
            break;
          case Loser::second:
            removed[c] = true;
            note(groups[c], groups[s]);
            break;
        }
      }
    }
    for (std::size_t n = 0; n < groups.size(); ++n) {
      if (!removed[n]) kept_.insert(kept_.end(), groups[n].pairs.begin(), groups[n].pairs.end());
    }
    return {};
  }

  const std::vector<cost::Cost>& kept() const { return kept_; }
  std::vector<Removal>& removals() { return removals_; }
  bool complete() const { return solver_.complete(); }

 private:
  enum class Loser { none, first, second };

  /// Returns the terms with every loop at its extent, without scalars.
  Terms dense(const Terms& terms) const {
    Terms result;
    for (cost::Term term : terms) {
      cost::Term product = term & ((cost::Term{1} << cost::Variables::first_fiber) - 1);
      for (std::size_t n = 0; n < extent_of_fiber_.size(); ++n) {
        if ((term >> (cost::Variables::first_fiber + n)) & 1U) product |= extent_of_fiber_[n];
      }
      if (product != 0) result.push_back(product);
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  /// Best first at the middle of the allowed sizes. The papers take the order in which their lists come.
  std::vector<Group> groups_of(const std::vector<cost::Cost>& pairs) const {
    std::map<std::pair<Terms, Terms>, Group> by_cost;
    for (const cost::Cost& pair : pairs) {
      Group& group = by_cost[{dense(pair.time), dense(pair.memory)}];
      group.pairs.push_back(pair);
    }
    std::vector<Group> groups;
    for (auto& [cost, group] : by_cost) {
      std::tie(group.time, group.memory) = cost;
      for (const cost::Point& point : samples_) {
        group.time_values.push_back(cost::evaluate_time({group.time, {}}, point));
        group.memory_values.push_back(cost::evaluate_memory({{}, group.memory}, point));
      }
      groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
      return std::pair(a.time_values[0], a.memory_values[0]) <
             std::pair(b.time_values[0], b.memory_values[0]);
    });
    return groups;
  }

  /// s is removed by c when c dominates s at some allowed size and s dominates c at none.
  Loser loser(const Group& s, const Group& c) {
    bool first_ahead = false;
    bool second_ahead = false;
    for (std::size_t n = 0; n < samples_.size() && !(first_ahead && second_ahead); ++n) {
      first_ahead = first_ahead || dominates_at(s, c, n);
      second_ahead = second_ahead || dominates_at(c, s, n);
    }
    if (first_ahead && second_ahead) {
      ++counts_.witnesses;
      return Loser::none;
    }
    const std::uint64_t queries = counts_.solver_queries;
    const Verdict first = first_ahead ? Verdict::satisfiable : somewhere(s, c);
    const Verdict second = second_ahead ? Verdict::satisfiable : somewhere(c, s);
    ++(counts_.solver_queries != queries ? counts_.solver_pairs : counts_.log_proofs);
    if (first == Verdict::satisfiable && second == Verdict::unsatisfiable) return Loser::second;
    if (second == Verdict::satisfiable && first == Verdict::unsatisfiable) return Loser::first;
    return Loser::none;
  }

  static bool dominates_at(const Group& a, const Group& b, std::size_t sample) {
    const double ta = a.time_values[sample], tb = b.time_values[sample];
    const double ma = a.memory_values[sample], mb = b.memory_values[sample];
    return !less(tb, ta) && !less(mb, ma) && (less(ta, tb) || less(ma, mb));
  }

  /// Decides whether a dominates b at some allowed size: no worse in both, better in one.
  Verdict somewhere(const Group& a, const Group& b) {
    const Verdict less_memory = both(a.time, b.time, a.memory, b.memory);
    if (less_memory == Verdict::satisfiable) return less_memory;
    const Verdict less_time = both(a.memory, b.memory, a.time, b.time);
    return less_time == Verdict::satisfiable || less_memory == Verdict::unsatisfiable ? less_time
                                                                                      : less_memory;
  }

  /// Decides whether a <= b and c < d at some allowed size.
  Verdict both(const Terms& a, const Terms& b, const Terms& c, const Terms& d) {
    if (at_most(d, c) || below(b, a)) return Verdict::unsatisfiable;
    return solver_.ask({{bounds_.solver_sum(a), bounds_.solver_sum(b), false},
                        {bounds_.solver_sum(c), bounds_.solver_sum(d), true}});
  }

  /// Proven: a <= b at every allowed size.
  bool at_most(const Terms& a, const Terms& b) {
    const auto [position, added] = proofs_.try_emplace({a, b}, false);
    if (added) position->second = prove_at_most(bounds_, a, b) != SumProof::none;
    return position->second;
  }
  /// Proven: a < b at every allowed size (a + 1 <= b; the empty product is 1).
  bool below(Terms a, const Terms& b) {
    a.insert(a.begin(), 0);
    return at_most(a, b);
  }

  /// Notes the removal of a group's classes, each once, beside one class of the winner.
  void note(const Group& loser, const Group& winner) {
    const auto classes_of = [](const Group& group) {
      std::set<cost::Cost> classes;
      for (cost::Cost cost : group.pairs) {
        std::sort(cost.memory.begin(), cost.memory.end());
        classes.insert(std::move(cost));
      }
      return classes;
    };
    const auto dense = [](const Group& group) {
      return Argument("T = ") << time_sum(group.time) << ", M = " << memory_sum(group.memory);
    };
    const Argument argument = Argument("the papers' test: with every loop at its extent this class (")
                              << dense(loser) << ") is dominated at some allowed size by (" << dense(winner)
                              << ") and dominates at none (no proof that it never wins)";
    for (const cost::Cost& cost : classes_of(loser))
      removals_.push_back({cost, {Certificate::Kind::published, *classes_of(winner).begin(), argument}});
  }

  LogBounds& bounds_;
  Counts& counts_;
  BudgetedSolver solver_;
  std::vector<cost::Point> samples_;
  std::vector<cost::Term> extent_of_fiber_;
  std::map<std::pair<Terms, Terms>, bool> proofs_;
  std::vector<cost::Cost> kept_;
  std::vector<Removal> removals_;
};

void summarise(Published& published, Certificate::Kind kind, std::string argument) {
  published.removals.push_back({{}, {kind, std::nullopt, std::move(argument)}});
}

/// Loop trees within the bounds; more than can be counted leave the text empty.
support::Result<std::string> count_trees(space::Space& space, const std::vector<space::Space::Depths>& bounds,
                                         const support::Cancellation& cancellation) {
  auto trees = space.loop_trees(bounds, cancellation);
  if (trees.ok()) return std::to_string(*trees);
  if (trees.error().code != "loop-trees") return trees.error();
  return std::string();
}

/// Stage 1: the pairs whose temporaries have few indices.
support::Result<std::vector<cost::Cost>> by_memory_depth(space::Space& space, const Options& options,
                                                         Published& published,
                                                         const support::Cancellation& cancellation) {
  const int depth = options.stage1 ? options.memory_depth : any_depth;
  SCHAAS_ASSIGN_OR_RETURN(std::vector<cost::Cost> pairs, space.published_pairs(depth, cancellation));
  SCHAAS_ASSIGN_OR_RETURN(published.counts.stage1, count_trees(space, {{any_depth, depth}}, cancellation));
  published.counts.classes_stage1 = pairs.size();
  if (options.stage1) {
    summarise(published, Certificate::Kind::depth,
              "temporaries of more than " + std::to_string(depth) + " indices were not allowed");
  }
  return pairs;
}

/// Stage 2: the pairs whose depths no other pair's are below.
support::Result<std::vector<cost::Cost>> by_depth_poset(space::Space& space, std::vector<cost::Cost> pairs,
                                                        const Options& options, Published& published,
                                                        const support::Cancellation& cancellation) {
  published.counts.stage2 = published.counts.stage1;
  published.counts.classes_stage2 = pairs.size();
  if (!options.stage2 || pairs.empty()) return pairs;
  const auto front = depth_front(pairs);
  std::vector<std::uint64_t> dropped(front.size(), 0);
  std::erase_if(pairs, [&](const cost::Cost& cost) {
    const space::Space::Depths depths = depths_of(cost);
    const std::size_t by = covering(depths, front);
    if (front[by] == depths) return false;
    ++dropped[by];
    return true;
  });
  for (std::size_t n = 0; n < front.size(); ++n) {
    if (dropped[n] == 0) continue;
    summarise(published, Certificate::Kind::depth_poset,
              std::to_string(dropped[n]) + " classes were dropped for those with nests of " +
                  std::to_string(front[n].loops) + " loops and temporaries of " +
                  std::to_string(front[n].memory) +
                  " indices: they have no fewer of either (a heuristic, no proof)");
  }
  SCHAAS_ASSIGN_OR_RETURN(published.counts.stage2, count_trees(space, front, cancellation));
  published.counts.classes_stage2 = pairs.size();
  return pairs;
}

}  // namespace

support::Result<Published> published_stages(const problem::Problem& problem, const Options& options,
                                            LogBounds& bounds, Solver& solver, const Progress& progress,
                                            const support::Cancellation& cancellation) {
  Published published;
  Stopwatch watch;
  const auto report = [&](const char* stage) {
    if (progress) progress({stage});
  };
  report("space");
  space::Options space_options;
  space_options.rule = space::Rule::published;
  space_options.max_operand_orders = options.operand_orders;
  space::Space space(problem, space_options);
  SCHAAS_ASSIGN_OR_RETURN(const mpz_class members, space.count(cancellation));
  published.counts.space = members.get_str();
  published.counts.states = space.states();
  watch.lap(published.seconds.space);

  report("stage1");
  SCHAAS_ASSIGN_OR_RETURN(std::vector<cost::Cost> pairs,
                          by_memory_depth(space, options, published, cancellation));
  watch.lap(published.seconds.stage1);

  report("stage2");
  SCHAAS_ASSIGN_OR_RETURN(pairs, by_depth_poset(space, std::move(pairs), options, published, cancellation));
  watch.lap(published.seconds.stage2);

  PublishedTest test(bounds, solver, options, published.counts);
  SCHAAS_RETURN_IF_ERROR(test.prune(pairs, progress, cancellation));
  published.counts.classes_stage3 = test.kept().size();
  published.complete = test.complete();
  std::move(test.removals().begin(), test.removals().end(), std::back_inserter(published.removals));
  for (cost::Cost cost : test.kept()) {
    std::sort(cost.memory.begin(), cost.memory.end());
    published.classes.push_back(std::move(cost));
  }
  std::sort(published.classes.begin(), published.classes.end());
  published.classes.erase(std::unique(published.classes.begin(), published.classes.end()),
                          published.classes.end());
  std::uint64_t trees = 0;
  for (const cost::Cost& cost : published.classes) {
    SCHAAS_ASSIGN_OR_RETURN(const space::Space::Members inside, space.members_of(cost, 0, cancellation));
    trees += inside.loop_trees;
  }
  published.counts.stage3 = std::to_string(trees);
  watch.lap(published.seconds.stage3);
  return published;
}

}  // namespace schaas::frontier

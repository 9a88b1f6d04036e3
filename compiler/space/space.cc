#include "compiler/space/space.h"

#include <algorithm>
#include <map>

#include "compiler/space/classes.h"
#include "compiler/space/count.h"
#include "compiler/space/finder.h"
#include "compiler/space/loop_trees.h"
#include "compiler/space/pairs.h"
#include "compiler/space/pareto.h"
#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"

namespace schaas::space {
namespace {

constexpr std::uint64_t max_loop_trees = 4'000'000;
constexpr std::size_t max_class_trees = 200'000;

mpz_class wide(Multiplicity value) {
  mpz_class high = static_cast<unsigned long>(value >> 64);
  return (high << 64) + mpz_class(static_cast<unsigned long>(value));
}

cost::Cost cost_of(const Sums& sums, SumId time, SumId memory) {
  const auto t = sums.at(time);
  const auto m = sums.at(memory);
  return {{t.begin(), t.end()}, {m.begin(), m.end()}};
}

void sort_by_cost(std::vector<ClassCount>& classes) {
  std::sort(classes.begin(), classes.end(),
            [](const ClassCount& a, const ClassCount& b) { return a.cost < b.cost; });
}

}  // namespace

class Space::Implementation {
 public:
  Implementation(const problem::Problem& problem, Options options)
      : recursion(problem, options), counter(recursion) {}

  /// Members are numbered root by root.
  schedule::Trace trace_at(mpz_class number) {
    const support::Cancellation never;
    Watch watch(recursion, never, "numbering members");
    for (std::size_t n = 0; n < recursion.roots().size(); ++n) {
      const StateId root = recursion.roots()[n];
      const mpz_class here = counter.of(root, watch);
      if (number < here) {
        return trace_of(recursion, *member_at(recursion, counter, root, number, watch),
                        recursion.operand_orders()[n]);
      }
      number -= here;
    }
    throw support::InternalError("member number out of range");
  }

  Recursion recursion;
  Counter counter;
};

Space::Space(const problem::Problem& problem, Options options)
    : implementation_(std::make_unique<Implementation>(problem, options)) {}
Space::~Space() = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;

std::size_t Space::states() const { return implementation_->recursion.size(); }

support::Result<mpz_class> Space::count(const support::Cancellation& cancellation) {
  Watch watch(implementation_->recursion, cancellation, "counting the schedule space");
  mpz_class sum = 0;
  for (StateId root : implementation_->recursion.roots()) sum += implementation_->counter.of(root, watch);
  if (watch.stopped()) return watch.error();
  return sum;
}

support::Result<std::vector<ClassCount>> Space::classes(int max_memory_depth,
                                                        const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting cost classes");
  Sums sums;
  Classes by_state(recursion, sums, max_memory_depth);
  std::map<std::pair<SumId, SumId>, mpz_class> total;
  for (StateId root : recursion.roots()) {
    for (const Classes::Entry& entry : by_state.of(root, watch))
      total[{entry.time, entry.memory}] += wide(entry.members);
  }
  if (watch.stopped()) return watch.error();
  std::vector<ClassCount> classes;
  for (auto& [key, members] : total) classes.push_back({cost_of(sums, key.first, key.second), members});
  sort_by_cost(classes);
  return classes;
}

support::Result<std::vector<cost::Cost>> Space::published_pairs(int max_memory_depth,
                                                                const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting the papers' pairs");
  Sums sums;
  Pairs by_state(recursion, sums, max_memory_depth);
  std::vector<Pairs::Entry> all;
  for (StateId root : recursion.roots()) {
    const std::vector<Pairs::Entry>& pairs = by_state.of(root, watch);
    all.insert(all.end(), pairs.begin(), pairs.end());
  }
  if (watch.stopped()) return watch.error();
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<cost::Cost> costs;
  costs.reserve(all.size());
  for (const Pairs::Entry& entry : all) costs.push_back(cost_of(sums, entry.time, entry.memory));
  std::sort(costs.begin(), costs.end());
  return costs;
}

support::Result<std::uint64_t> Space::loop_trees(const std::vector<Depths>& bounds,
                                                 const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "counting loop trees");
  TreeTable table;
  LoopTrees by_state(recursion, table, max_loop_trees);
  std::vector<TreeId> all;
  for (const Depths& bound : bounds) {
    for (StateId root : recursion.roots()) {
      const auto& trees = by_state.of(root, bound.loops, bound.memory, watch);
      all.insert(all.end(), trees.begin(), trees.end());
    }
  }
  if (watch.stopped()) return watch.error();
  std::sort(all.begin(), all.end());
  return static_cast<std::uint64_t>(std::unique(all.begin(), all.end()) - all.begin());
}

support::Result<Space::ParetoClasses> Space::pareto_classes(Dominance& dominance, int max_memory_depth,
                                                            const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "pruning cost classes");
  Sums sums;
  Pareto by_state(recursion, sums, dominance, max_memory_depth);
  const std::vector<Pareto::Entry> front = by_state.of_roots(watch);
  if (watch.stopped()) return watch.error();
  ParetoClasses kept;
  kept.dropped = by_state.dropped();
  for (const Pareto::Entry& entry : front) {
    kept.classes.push_back({cost_of(sums, entry.time, entry.memory), wide(entry.members)});
  }
  sort_by_cost(kept.classes);
  return kept;
}

support::Result<Space::Members> Space::members_of(const cost::Cost& cost, std::size_t limit,
                                                  const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "listing the members of a class");
  Sums sums;
  TreeTable table;
  Finder finder(recursion, sums, table, std::max<std::size_t>(limit, 1), max_class_trees);
  const SumId time = sums.intern(cost.time);
  const SumId memory = sums.intern(cost.memory);
  Finder::Answer all;
  std::map<StateId, const std::vector<int>*> operand_order;
  for (std::size_t n = 0; n < recursion.roots().size(); ++n) {
    const StateId root = recursion.roots()[n];
    operand_order.emplace(root, &recursion.operand_orders()[n]);
    Finder::add(all, finder.of(root, time, memory, true, watch), std::max<std::size_t>(limit, 1));
  }
  if (watch.stopped()) return watch.error();
  Members members{all.members, all.trees.size(), !all.trees_cut, {}};
  for (const Finder::Ranked& one : all.best) {
    if (members.traces.size() == limit) break;
    members.traces.push_back(trace_of(recursion, *one.member, *operand_order.at(one.member->state)));
  }
  return members;
}

support::Result<schedule::Trace> Space::draw(std::mt19937_64& random) {
  const support::Cancellation never;
  auto total = count(never);
  if (!total.ok()) return total.error();
  if (*total == 0)
    return support::invalid("no-schedule", "the schedule space is empty: nothing can be drawn from it");
  // Uniform below `total`: as many random bits as it has, rejected when too large.
  mpz_class number;
  const auto bits = mpz_sizeinbase(total->get_mpz_t(), 2);
  do {
    number = 0;
    for (std::size_t have = 0; have < bits; have += 32) {
      const auto take = static_cast<unsigned>(std::min<std::size_t>(32, bits - have));
      number = (number << take) + static_cast<unsigned long>(random() >> (64 - take));
    }
  } while (number >= *total);
  return implementation_->trace_at(number);
}

support::Result<void> Space::for_each(const std::function<bool(const schedule::Trace&)>& visit,
                                      const support::Cancellation& cancellation) {
  SCHAAS_ASSIGN_OR_RETURN(const mpz_class total, count(cancellation));
  for (mpz_class number = 0; number < total; ++number) {
    SCHAAS_RETURN_IF_ERROR(cancellation.check("listing the schedule space"));
    if (!visit(implementation_->trace_at(number))) break;
  }
  return {};
}

}  // namespace schaas::space

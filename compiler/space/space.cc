#include "compiler/space/space.h"

#include <algorithm>
#include <map>

#include "compiler/space/classes.h"
#include "compiler/space/count.h"
#include "compiler/space/depths.h"
#include "compiler/space/finder.h"
#include "compiler/space/loop_trees.h"
#include "compiler/space/pairs.h"
#include "compiler/space/pareto.h"
#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"

// The questions about a space, each a fold over one recursion with memory of its own. Roots are operand
// orders. Orders of interchangeable operands have one root: members count once for each order, trees and
// traces once in all. Exact numbers are tried in 128 bits first.
namespace schaas::space {
namespace {

constexpr std::uint64_t max_loop_trees = 4'000'000;
constexpr std::size_t roots_at_a_time = 32;
constexpr std::size_t max_class_trees = 200'000;

cost::Cost cost_of(const Sums& sums, SumId time, SumId memory) {
  const auto t = sums.at(time);
  const auto m = sums.at(memory);
  return {{t.begin(), t.end()}, {m.begin(), m.end()}};
}

}  // namespace

class Space::Implementation {
 public:
  Implementation(const problem::Problem& problem, Options options)
      : recursion(problem, options), counter(recursion), searched(recursion.roots().size()) {}

  /// Members are numbered root by root.
  schedule::Trace trace_at(mpz_class number) {
    const support::Cancellation never;
    Watch watch(recursion, never, "numbering members");
    for (std::size_t n = 0; n < recursion.roots().size(); ++n) {
      const Side root = recursion.roots()[n];
      const mpz_class here = counter.of(root.state, watch);
      if (number < here) {
        return trace_of(recursion, *member_at(recursion, counter, root.state, number, watch),
                        recursion.operand_orders()[n], root.mirrored);
      }
      number -= here;
    }
    throw support::InternalError("member number out of range");
  }

  /// Members are looked for among the operand orders of all folds.
  void keep_searched(std::size_t operand_orders) {
    searched = folded ? std::max(searched, operand_orders) : operand_orders;
    folded = true;
  }

  Recursion recursion;
  Counter counter;
  std::size_t searched;  ///< the first so many operand orders are what pareto_classes answered for
  bool folded = false;   ///< it answered
};

Space::Space(const problem::Problem& problem, Options options)
    : implementation_(std::make_unique<Implementation>(problem, options)) {}
Space::~Space() = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;

std::size_t Space::states() const { return implementation_->recursion.size(); }

support::Result<mpz_class> Space::count(const support::Cancellation& cancellation,
                                        const std::function<void()>& tick) {
  Watch watch(implementation_->recursion, cancellation, "counting the schedule space", tick);
  mpz_class sum = 0;
  for (const Side& root : implementation_->recursion.roots())
    sum += implementation_->counter.of(root.state, watch);
  if (watch.stopped()) return watch.error();
  return sum;
}

namespace {

/// The classes of all roots; false when `Number` is too small for them.
template <class Number>
bool collect(Recursion& recursion, Space::Depths bound, Watch& watch, std::vector<ClassCount>& classes) {
  Sums sums;
  Classes<Number> by_state(recursion, sums, bound.memory);
  std::map<std::pair<SumId, SumId>, mpz_class> total;
  for (const Side& root : recursion.roots()) {
    for (const auto& entry :
         by_state.of(root.state, recursion.contraction().access_classes, bound.loops, watch))
      total[{entry.time, entry.memory}] += wide(entry.members);
  }
  if (by_state.overflowed()) return false;
  for (auto& [key, members] : total) classes.push_back({cost_of(sums, key.first, key.second), members});
  return true;
}

template <class Number>
bool collect(Recursion& recursion, Watch& watch, std::map<Space::Depths, mpz_class>& members) {
  DepthCounts<Number> by_state(recursion);
  for (const Side& root : recursion.roots()) {
    for (const auto& entry : by_state.of(root.state, watch)) members[entry.depths] += wide(entry.members);
  }
  return !by_state.overflowed();
}

}  // namespace

support::Result<std::vector<Space::DepthCount>> Space::depths(const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting depths");
  std::map<Depths, mpz_class> members;
  if (!collect<Multiplicity>(recursion, watch, members)) {
    members.clear();
    collect<mpz_class>(recursion, watch, members);
  }
  if (watch.stopped()) return watch.error();
  std::vector<DepthCount> counts;
  for (const auto& [depths, number] : members) counts.push_back({depths, number});
  return counts;
}

support::Result<std::vector<ClassCount>> Space::classes(Depths bound,
                                                        const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting cost classes");
  std::vector<ClassCount> classes;
  if (!collect<Multiplicity>(recursion, bound, watch, classes)) {
    collect<mpz_class>(recursion, bound, watch, classes);
  }
  if (watch.stopped()) return watch.error();
  std::sort(classes.begin(), classes.end(),
            [](const ClassCount& a, const ClassCount& b) { return a.cost < b.cost; });
  return classes;
}

support::Result<std::vector<ClassCount>> Space::classes(int max_memory_depth,
                                                        const support::Cancellation& cancellation) {
  return classes(Depths{max_indices, max_memory_depth}, cancellation);
}

support::Result<std::vector<cost::Cost>> Space::published_pairs(int max_memory_depth,
                                                                const support::Cancellation& cancellation) {
  Recursion& recursion = implementation_->recursion;
  Watch watch(recursion, cancellation, "collecting the papers' pairs");
  Sums sums;
  Pairs by_state(recursion, sums, max_memory_depth);
  std::vector<Pairs::Entry> all;
  for (const Side& root : recursion.roots()) {
    const std::vector<Pairs::Entry>& pairs = by_state.of(root.state, watch);
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
    for (const Side& root : recursion.roots()) {
      const auto& trees = by_state.of(root.state, bound.loops, bound.memory, watch);
      all.insert(all.end(), trees.begin(), trees.end());
    }
  }
  if (watch.stopped()) return watch.error();
  std::sort(all.begin(), all.end());
  return static_cast<std::uint64_t>(std::unique(all.begin(), all.end()) - all.begin());
}

support::Result<Space::ParetoClasses> Space::pareto_classes(
    Dominance& dominance, int max_memory_depth, const support::Cancellation& cancellation,
    const std::function<void(const ParetoProgress&)>& progress) {
  Recursion& recursion = implementation_->recursion;
  Pareto by_state(recursion, dominance, max_memory_depth, recursion.options().threads);
  ParetoClasses kept;
  const auto tell = [&] {
    if (!progress) return;
    progress({recursion.size(), by_state.folded(), kept.operand_orders, recursion.roots().size(),
              by_state.roots().size(), kept.members});
  };
  Watch watch(recursion, cancellation, "pruning cost classes", tell);
  const std::span<const Side> roots = recursion.roots();
  while (kept.operand_orders < roots.size()) {
    // A few orders at first, to have an answer soon; then as many as keep the threads busy.
    const std::size_t most = std::clamp<std::size_t>(kept.operand_orders, 1, roots_at_a_time);
    const auto part = roots.subspan(kept.operand_orders, std::min(most, roots.size() - kept.operand_orders));
    // Counted before: an end in between leaves no classes of orders that are not among the searched ones.
    mpz_class members = 0;
    for (const Side& root : part) members += implementation_->counter.of(root.state, watch);
    if (!watch.stopped()) by_state.add_roots(part, watch);
    if (watch.stopped()) {
      if (kept.operand_orders == 0 || watch.error().code == "cancelled") return watch.error();
      kept.ended = watch.error();
      break;
    }
    kept.operand_orders += part.size();
    kept.members += members;
    tell();
  }
  implementation_->keep_searched(kept.operand_orders);
  kept.dropped = by_state.dropped();
  kept.states = by_state.folded();
  const ClassList& front = by_state.roots();
  for (std::size_t n = 0; n < front.size(); ++n) {
    const ClassList::Terms time = front.time(n);
    const ClassList::Terms memory = front.memory(n);
    kept.classes.push_back({{time.begin(), time.end()}, {memory.begin(), memory.end()}});
  }
  std::sort(kept.classes.begin(), kept.classes.end());
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
  limit = std::max<std::size_t>(limit, 1);
  Finder::Answer all;
  /// Origin of a root's members: the first operand order with this root, as it stands there.
  std::map<StateId, std::size_t> first_order;
  for (std::size_t n = 0; n < implementation_->searched; ++n) {
    const StateId root = recursion.roots()[n].state;
    const Finder::Answer& answer = finder.of(root, time, memory, true, watch);
    all.members += answer.members;
    if (first_order.emplace(root, n).second) Finder::add(all, answer, limit);
  }
  if (watch.stopped()) return watch.error();
  Members members{all.members, all.trees.size(), !all.trees_cut, {}};
  for (const Finder::Ranked& one : all.best) {
    const std::size_t n = first_order.at(one.member->state);
    members.traces.push_back(
        trace_of(recursion, *one.member, recursion.operand_orders()[n], recursion.roots()[n].mirrored));
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

#include "compiler/space/finder.h"

#include <algorithm>
#include <bit>
#include <set>

namespace schaas::space {
namespace {

constexpr std::int64_t serial_phase =
    1'000'000;                            ///< an outermost loop that is no index of what the phase writes
constexpr std::int64_t not_rows = 1'000;  ///< outermost, but not the rows of a sparse operand
constexpr std::int64_t jump = 10'000;     ///< per unit of access weight above contiguous
/// Orders of common loops and of combining nests that are looked at: more than 7! only of more than seven
/// free loops.
constexpr std::size_t max_orders = 5041;
constexpr std::int64_t inversion = 10;  ///< two loops against the storage order of an access

/// All terms of `mask`.
std::vector<cost::Term> chosen(const std::vector<cost::Term>& terms, std::uint32_t mask) {
  std::vector<cost::Term> result;
  for (std::size_t n = 0; n < terms.size(); ++n) {
    if ((mask >> n) & 1U) result.push_back(terms[n]);
  }
  return result;
}

/// Of equal neighbours the earlier ones are taken first, so that no choice of a multiset is met twice.
bool canonical_choice(const std::vector<cost::Term>& sorted, std::uint32_t mask) {
  for (std::size_t n = 1; n < sorted.size(); ++n) {
    if (sorted[n] == sorted[n - 1] && ((mask >> n) & 1U) > ((mask >> (n - 1)) & 1U)) return false;
  }
  return true;
}

/// Removes one occurrence; false when there is none.
bool take(std::vector<cost::Term>& terms, cost::Term term) {
  const auto found = std::find(terms.begin(), terms.end(), term);
  if (found == terms.end()) return false;
  terms.erase(found);
  return true;
}

}  // namespace

std::size_t Finder::GoalHash::operator()(const Goal& goal) const {
  std::uint64_t hash = (std::uint64_t{goal.time} << 32 | goal.memory) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9ULL +
         (std::uint64_t{goal.id} << 1 | (goal.outermost ? 1U : 0U));
  return static_cast<std::size_t>(hash * 0x94d049bb133111ebULL >> 7);
}

IndexSet Finder::loops_of(cost::Term term) const {
  IndexSet loops = static_cast<IndexSet>(term & ((1U << cost::Variables::first_fiber) - 1));
  for (const AccessShape& operand : recursion_.contraction().operands) {
    for (std::size_t x = 0; x < max_indices; ++x) {
      if (operand.fiber[x] & term) loops |= IndexSet{1} << x;
    }
  }
  return loops;
}

const Finder::Answer& Finder::of(StateId id, SumId time, SumId memory, bool outermost, Watch& watch) {
  static const Answer nothing;
  if (sums_.at(time).size() != sums_.at(memory).size() + 1) return nothing;
  const Goal goal{id, time, memory, outermost};
  if (const auto found = known_.find(goal); found != known_.end()) return *found->second;
  if (watch.stopped()) return nothing;
  auto answer = std::make_unique<Answer>();
  const Expansion expansion = recursion_.expand(id);
  if (memory == 0) {
    linear(goal, *answer, watch);
  } else {
    for (std::size_t n = 0; n < expansion.transitions.size(); ++n) fused(goal, n, *answer, watch);
    for (std::size_t n = 0; n < expansion.joins.size(); ++n) joined(goal, n, *answer, watch);
  }
  finish(*answer);
  return *(known_[goal] = std::move(answer));
}

/// The legal orders of `loops` that end in one of `lasts`, at most `limit` of them; true when there are more.
bool Finder::orders_ending_in(StateId id, IndexSet loops, const std::vector<int>& lasts, std::size_t limit,
                              std::vector<Order>& orders) {
  for (const int last : lasts) {
    if (last < 0) {
      orders.push_back({});
      continue;
    }
    const bool all = recursion_.orders(id).each(loops & ~(IndexSet{1} << last), [&](const Order& order) {
      if (orders.size() >= limit) return false;
      orders.push_back(order);
      orders.back().push_back(static_cast<std::uint8_t>(last));
      return true;
    });
    if (!all) return true;
  }
  return false;
}

void Finder::linear(const Goal& goal, Answer& answer, Watch& watch) {
  if (!recursion_.expand(goal.id).linear) return;
  const State state = recursion_.state(goal.id);
  const cost::Term wanted = sums_.at(goal.time)[0];
  std::vector<int> lasts;
  for (const auto& [last, count] : recursion_.innermost_choices(goal.id, state.loops)) {
    if (recursion_.leaf_term(goal.id, last) != wanted) continue;
    answer.members += static_cast<unsigned long>(count);
    lasts.push_back(last);
  }
  std::vector<Order> orders;
  answer.trees_cut = orders_ending_in(goal.id, state.loops, lasts, max_trees_, orders);
  for (const Order& order : orders) {
    if (watch.stopped()) return;
    auto member = std::make_shared<Member>();
    member->state = goal.id;
    member->order = order;
    const TreeId tree = trees_.leaf(order);
    answer.trees.push_back(tree);
    const int last = order.empty() ? -1 : order.back();
    const std::int64_t penalty = order_penalty(goal.id, order) + recursion_.leaf_jumps(goal.id, last) * jump +
                                 (goal.outermost ? phase_penalty(goal.id, order) : 0);
    answer.best.push_back({penalty, tree, std::move(member)});
    if (answer.best.size() > 64 * best_) finish(answer);
  }
}

template <class Visit>
void Finder::deal(const std::vector<cost::Term>& time, const std::vector<cost::Term>& memory, IndexSet first,
                  IndexSet second, const Visit& visit) {
  const bool every_loop_counts = recursion_.options().rule != Rule::published;
  std::uint32_t only_first = 0;
  std::uint32_t only_second = 0;
  std::vector<IndexSet> loops;
  for (std::size_t n = 0; n < time.size(); ++n) {
    loops.push_back(loops_of(time[n]));
    if ((loops[n] & ~second) != 0) only_first |= 1U << n;
    if ((loops[n] & ~first) != 0) only_second |= 1U << n;
  }
  if ((only_first & only_second) != 0 || time.size() != memory.size() + 2) return;
  for (std::uint32_t t = 1; t + 1 < (1U << time.size()); ++t) {
    if ((t & only_first) != only_first || (t & only_second) != 0 || !canonical_choice(time, t)) continue;
    IndexSet mine = 0;
    IndexSet theirs = 0;
    for (std::size_t n = 0; n < time.size(); ++n) ((t >> n) & 1U ? mine : theirs) |= loops[n];
    if (every_loop_counts && (mine != first || theirs != second)) continue;
    const std::uint32_t all = (1U << memory.size()) - 1;
    for (std::uint32_t m = 0; m <= all; ++m) {
      if (std::popcount(m) + 1 != std::popcount(t) || !canonical_choice(memory, m)) continue;
      visit(sums_.intern(chosen(time, t)), sums_.intern(chosen(memory, m)), sums_.intern(chosen(time, ~t)),
            sums_.intern(chosen(memory, all & ~m)));
    }
  }
}

void Finder::fused(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch) {
  const Transition t = recursion_.expand(goal.id).transitions[choice];
  const auto terms = sums_.at(goal.time);
  const auto entries = sums_.at(goal.memory);
  const cost::Term prefix = trips_of(recursion_.context(goal.id), t.prefix);
  std::vector<cost::Term> time;
  for (cost::Term term : terms) {
    if ((term & prefix) != prefix) return;
    time.push_back(term & ~prefix);
  }
  std::vector<cost::Term> memory(entries.begin(), entries.end());
  if (!take(memory, extents_of(t.temporary))) return;
  const bool outermost = goal.outermost && t.prefix == 0;
  std::vector<Order> orders;
  deal(time, memory, recursion_.state(t.producer).loops, recursion_.state(t.consumer).loops,
       [&](SumId pt, SumId pm, SumId ct, SumId cm) {
         const Answer& producers = of(t.producer, pt, pm, outermost, watch);
         if (producers.members == 0) return;
         const Answer& consumers = of(t.consumer, ct, cm, outermost, watch);
         if (consumers.members == 0) return;
         answer.members += producers.members * consumers.members *
                           static_cast<unsigned long>(orders_of(recursion_, goal.id, t));
         if (orders.empty()) {
           recursion_.orders(goal.id).each(t.prefix, [&](const Order& order) {
             orders.push_back(order);
             answer.trees_cut = answer.trees_cut || orders.size() == max_orders;
             return orders.size() < max_orders;
           });
         }
         combine(answer, Member::Kind::fused, goal, choice, orders, producers, consumers, watch);
       });
}

void Finder::joined(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch) {
  const Join join = recursion_.expand(goal.id).joins[choice];
  const auto entries = sums_.at(goal.memory);
  std::vector<cost::Term> memory(entries.begin(), entries.end());
  if (!take(memory, extents_of(join.left_temporary)) || !take(memory, extents_of(join.right_temporary)))
    return;
  std::set<cost::Term> nests;
  const auto choices = recursion_.innermost_choices(goal.id, join.loops);
  for (const auto& [last, count] : choices) nests.insert(recursion_.join_term(goal.id, join.loops, last));
  for (cost::Term nest : nests) {
    const auto terms = sums_.at(goal.time);
    std::vector<cost::Term> time(terms.begin(), terms.end());
    if (!take(time, nest)) continue;
    std::uint64_t count = 0;
    std::vector<int> lasts;
    for (const auto& [last, number] : choices) {
      if (recursion_.join_term(goal.id, join.loops, last) != nest) continue;
      count += number;
      lasts.push_back(last);
    }
    std::vector<Order> orders;
    const bool cut = orders_ending_in(goal.id, join.loops, lasts, max_orders, orders);
    deal(time, memory, recursion_.state(join.left).loops, recursion_.state(join.right).loops,
         [&](SumId lt, SumId lm, SumId rt, SumId rm) {
           const Answer& lefts = of(join.left, lt, lm, goal.outermost, watch);
           if (lefts.members == 0) return;
           const Answer& rights = of(join.right, rt, rm, goal.outermost, watch);
           if (rights.members == 0) return;
           answer.members += lefts.members * rights.members * static_cast<unsigned long>(count);
           answer.trees_cut = answer.trees_cut || cut;
           combine(answer, Member::Kind::joined, goal, choice, orders, lefts, rights, watch);
         });
  }
}

void Finder::combine(Answer& answer, Member::Kind kind, const Goal& goal, std::size_t choice,
                     const std::vector<Order>& orders, const Answer& producers, const Answer& consumers,
                     Watch& watch) {
  const bool fused = kind == Member::Kind::fused;
  const auto tree_kind =
      fused ? kind_of(recursion_.expand(goal.id).transitions[choice]) : TreeTable::Kind::plain;
  answer.trees_cut = answer.trees_cut || producers.trees_cut || consumers.trees_cut;
  for (const Order& order : orders) {
    if (watch.stopped()) return;
    std::int64_t own = order_penalty(goal.id, order);
    if (goal.outermost && !order.empty()) own += phase_penalty(goal.id, order);
    if (!fused) own += recursion_.join_jumps(goal.id, order.empty() ? -1 : order.back()) * jump;
    if (answer.trees.size() > max_trees_) {
      answer.trees_cut = true;
    } else if (fused) {
      for (TreeId p : producers.trees) {
        for (TreeId c : consumers.trees) answer.trees.push_back(trees_.branch(order, p, c, tree_kind));
        if (answer.trees.size() > 4 * max_trees_) break;
      }
    } else {
      answer.trees.push_back(trees_.leaf(order));
    }
    for (const Ranked& p : producers.best) {
      for (const Ranked& c : consumers.best) {
        auto member = std::make_shared<Member>();
        *member = {kind, goal.id, order, choice, p.member, c.member};
        const TreeId tree = fused ? trees_.branch(order, p.tree, c.tree, tree_kind) : trees_.leaf(order);
        answer.best.push_back({own + p.penalty + c.penalty, tree, std::move(member)});
      }
    }
    if (answer.best.size() > 64 * best_) finish(answer);
  }
}

namespace {

/// The best member of each tree, best first; of equals the one found first.
void keep_best(std::vector<Finder::Ranked>& ranked, std::size_t best) {
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.penalty < b.penalty; });
  std::set<TreeId> seen;
  std::vector<Finder::Ranked> kept;
  for (Finder::Ranked& one : ranked) {
    if (kept.size() < best && seen.insert(one.tree).second) kept.push_back(std::move(one));
  }
  ranked = std::move(kept);
}

}  // namespace

void Finder::finish(Answer& answer) const {
  keep_best(answer.best, best_);
  std::sort(answer.trees.begin(), answer.trees.end());
  answer.trees.erase(std::unique(answer.trees.begin(), answer.trees.end()), answer.trees.end());
  if (answer.trees.size() > max_trees_) {
    answer.trees_cut = true;
    answer.trees.resize(max_trees_);
  }
}

void Finder::add(Answer& into, const Answer& more, std::size_t best) {
  into.trees_cut = into.trees_cut || more.trees_cut;
  into.trees.insert(into.trees.end(), more.trees.begin(), more.trees.end());
  std::sort(into.trees.begin(), into.trees.end());
  into.trees.erase(std::unique(into.trees.begin(), into.trees.end()), into.trees.end());
  into.best.insert(into.best.end(), more.best.begin(), more.best.end());
  keep_best(into.best, best);
}

/// Pairs of loops nested against the storage order of some access of the problem.
std::int64_t Finder::order_penalty(StateId id, const Order& order) const {
  const State& state = recursion_.state(id);
  std::int64_t inversions = 0;
  const auto add = [&](const AccessShape& access) {
    IndexSet placed = 0;
    for (std::uint8_t x : order) {
      const IndexSet later = access.stored_before[x] & state.loops & ~placed;
      for (std::uint8_t y : order) inversions += (later >> y) & 1U;
      placed |= IndexSet{1} << x;
    }
  };
  for (std::uint8_t n = 0; n < state.size; ++n) {
    if (!is_plain(state.slots[n])) add(recursion_.shapes().bound(state.slots[n]));
  }
  if (state.final_result) add(recursion_.contraction().result);
  return inversions * inversion;
}

std::int64_t Finder::phase_penalty(StateId id, const Order& order) const {
  if (order.empty()) return serial_phase;
  const State& state = recursion_.state(id);
  const std::uint8_t first = order.front();
  if (((state.out >> first) & 1U) == 0) return serial_phase;
  for (std::uint8_t n = 0; n < state.size; ++n) {
    if (is_plain(state.slots[n])) continue;
    const AccessShape& operand = recursion_.shapes().bound(state.slots[n]);
    const bool sparse =
        std::any_of(operand.fiber.begin(), operand.fiber.end(), [](cost::Term f) { return f != 0; });
    if (sparse && ((operand.indices >> first) & 1U) != 0 && operand.stored_before[first] == 0) return 0;
  }
  return not_rows;
}

}  // namespace schaas::space

#include "compiler/space/finder.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "compiler/space/divisions.h"

// The members of one class. The search goes down the recursion with the class's terms in hand. A transition
// takes the terms it adds, divides the others by its common loops, and deals them out to its two sides in
// every way. Two facts cut most ways: a side has one leaf more than temporaries, and its leaves together have
// exactly its loops. Answers are remembered by state and terms. Members are ranked by penalties that add up
// over sections, and the best member of each loop tree is kept.
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

/// Returns the penalty of a temporary of which one side walks a column. lower/nest.h lays it out by the
/// deeper side's loops, the writer's when they are equally deep.
std::int64_t layout_penalty(IndexSet temporary, const Order& writer, const Order& reader) {
  const auto has = [&](std::uint8_t x) { return ((temporary >> x) & 1U) != 0; };
  const Order& deeper = reader.size() > writer.size() ? reader : writer;
  const auto last = std::find_if(deeper.rbegin(), deeper.rend(), has);
  std::int64_t penalty = 0;
  for (const Order* side : {&writer, &reader}) {
    const bool column = !side->empty() && has(side->back()) && last != deeper.rend() && *last != side->back();
    if (column) penalty += jump * (cost::weight(cost::Access::strided) - 1);
  }
  return penalty;
}

std::size_t leaves(std::span<const cost::Term> time) {
  return static_cast<std::size_t>(std::count_if(time.begin(), time.end(), cost::is_leaf));
}

/// Removes one occurrence; false when there is none.
bool take(std::vector<cost::Term>& terms, cost::Term term) {
  const auto found = std::find(terms.begin(), terms.end(), term);
  if (found == terms.end()) return false;
  terms.erase(found);
  return true;
}

bool take_all(std::vector<cost::Term>& terms, const Merges& merges) {
  return std::all_of(merges.begin(), merges.end(), [&](cost::Term merge) { return take(terms, merge); });
}

/// Returns the term and the merges of a nest, sorted.
std::vector<cost::Term> sum_of(const Recursion::Nest& nest) {
  std::vector<cost::Term> sum = nest.merges;
  sum.insert(std::upper_bound(sum.begin(), sum.end(), nest.term), nest.term);
  return sum;
}

}  // namespace

std::size_t Finder::GoalHash::operator()(const Goal& goal) const {
  std::uint64_t hash = (std::uint64_t{goal.time} << 32 | goal.memory) * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9ULL +
         (std::uint64_t{goal.id} << 1 | (goal.outermost ? 1U : 0U));
  return static_cast<std::size_t>(hash * 0x94d049bb133111ebULL >> 7);
}

const Finder::Answer& Finder::of(StateId id, SumId time, SumId memory, bool outermost, Watch& watch) {
  static const Answer nothing;
  if (leaves(sums_.at(time)) != sums_.at(memory).size() + 1) return nothing;
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
  bytes_ += sizeof(Answer) + answer->trees.capacity() * sizeof(TreeId) +
            answer->best.capacity() * (sizeof(Ranked) + sizeof(Member) + sizeof(Order));
  watch.hold(recursion_.bytes() + sums_.bytes() + trees_.bytes() + bytes_);
  return *(known_[goal] = std::move(answer));
}

template <class Wanted>
bool Finder::orders_of(StateId id, IndexSet loops, std::size_t limit, std::vector<Order>& orders,
                       const Wanted& wanted) {
  std::size_t seen = 0;
  return !recursion_.orders(id).each(loops, [&](const Order& order) {
    if (orders.size() >= limit || ++seen > 4 * max_trees_) return false;
    if (wanted(order)) orders.push_back(order);
    return true;
  });
}

/// Adds the linear nests that have exactly the goal's terms.
void Finder::linear(const Goal& goal, Answer& answer, Watch& watch) {
  if (!recursion_.expand(goal.id).linear) return;
  const IndexSet loops = recursion_.state(goal.id).loops;
  const auto terms = sums_.at(goal.time);
  const std::vector<cost::Term> wanted(terms.begin(), terms.end());
  for (const Recursion::Nest& nest : recursion_.leaf_nests(goal.id, goal.outermost)) {
    if (sum_of(nest) == wanted) answer.members += static_cast<unsigned long>(nest.orders);
  }
  if (answer.members == 0) return;
  std::vector<Order> orders;
  answer.trees_cut = orders_of(goal.id, loops, max_trees_, orders, [&](const Order& order) {
    return sum_of(recursion_.leaf_nest(goal.id, order, goal.outermost)) == wanted;
  });
  for (const Order& order : orders) {
    if (watch.stopped()) return;
    auto member = std::make_shared<Member>();
    member->state = goal.id;
    member->order = order;
    const TreeId tree = trees_.leaf(order);
    answer.trees.push_back(tree);
    const std::int64_t penalty = order_penalty(goal.id, order) +
                                 recursion_.leaf_jumps(goal.id, order, goal.outermost) * jump +
                                 (goal.outermost ? phase_penalty(goal.id, order) : 0);
    answer.best.push_back({penalty, tree, std::move(member)});
    // Cut now and then, so that the list stays short.
    if (answer.best.size() > 64 * best_) finish(answer);
  }
}

/// Terms of leaves: as many as temporaries and one more to each side, each side's together with exactly its
/// loops. Terms of clearings and merges: within the side's loops.
template <class Visit>
void Finder::deal(const std::vector<cost::Term>& time, const std::vector<cost::Term>& memory, IndexSet first,
                  IndexSet second, const Visit& visit) {
  if (leaves(time) != memory.size() + 2) return;
  const bool every_loop_counts = recursion_.options().rule != Rule::published;
  std::vector<EqualTerms> times = equal_terms(time);
  const std::vector<EqualTerms> memories = equal_terms(memory);
  std::vector<IndexSet> loops;
  for (EqualTerms& group : times) {
    loops.push_back(loops_of(recursion_.contraction(), group.term));
    group.counts = cost::is_leaf(group.term);
    if ((loops.back() & ~first) != 0) group.max_first = 0;
    if ((loops.back() & ~second) != 0) group.min_first = group.count;
  }
  // A term that fits neither side has no number to take.
  each_division(times, memory.size() + 1, [&](const std::vector<std::size_t>& taken) {
    IndexSet mine = 0;
    IndexSet theirs = 0;
    std::size_t leaves_taken = 0;
    for (std::size_t n = 0; n < times.size(); ++n) {
      if (!times[n].counts) continue;
      if (taken[n] > 0) mine |= loops[n];
      if (taken[n] < times[n].count) theirs |= loops[n];
      leaves_taken += taken[n];
    }
    if (leaves_taken == 0 || (every_loop_counts && (mine != first || theirs != second))) return;
    each_division(memories, leaves_taken - 1, [&](const std::vector<std::size_t>& held) {
      if (std::accumulate(held.begin(), held.end(), std::size_t{0}) + 1 != leaves_taken) return;
      visit(sums_.intern(first_side(times, taken)), sums_.intern(first_side(memories, held)),
            sums_.intern(second_side(times, taken)), sums_.intern(second_side(memories, held)));
    });
  });
}

/// Adds the members of a transition whose terms are the goal's.
void Finder::fused(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch) {
  const Transition t = recursion_.expand(goal.id).transitions[choice];
  const auto entries = sums_.at(goal.memory);
  std::vector<cost::Term> memory(entries.begin(), entries.end());
  if (!take(memory, extents_of(t.temporary))) return;
  const cost::Term clearing = recursion_.clearing(goal.id, t, goal.outermost);
  const bool outermost = goal.outermost && t.prefix == 0;
  for (const Recursion::Nest& common : recursion_.common_loops(goal.id, t, goal.outermost)) {
    const auto all = sums_.at(goal.time);
    std::vector<cost::Term> whole(all.begin(), all.end()), time;
    if (!take_all(whole, common.merges)) continue;
    for (cost::Term term : whole) {
      // Below common loops nothing is serial by itself.
      if ((term & common.term) != common.term || (!outermost && cost::is_serial(term & ~common.term))) break;
      time.push_back(term & ~common.term);
    }
    if (time.size() != whole.size()) continue;
    if (clearing != 0 && !take(time, clearing & ~common.term)) continue;
    std::vector<Order> orders;
    deal(time, memory, recursion_.state(t.producer).loops, recursion_.state(t.consumer).loops,
         [&](SumId pt, SumId pm, SumId ct, SumId cm) {
           const Answer& producers = of(t.producer, pt, pm, outermost, watch);
           if (producers.members == 0) return;
           const Answer& consumers = of(t.consumer, ct, cm, outermost, watch);
           if (consumers.members == 0) return;
           answer.members +=
               producers.members * consumers.members * static_cast<unsigned long>(common.orders);
           if (orders.empty()) {
             const bool cut = orders_of(goal.id, t.prefix, max_orders, orders, [&](const Order& order) {
               return sum_of(recursion_.common_nest(goal.id, t, order, goal.outermost)) == sum_of(common);
             });
             answer.trees_cut = answer.trees_cut || cut;
           }
           combine(answer, Member::Kind::fused, goal, choice, orders, producers, consumers, watch);
         });
  }
}

/// Adds the members of a combination whose terms are the goal's.
void Finder::joined(const Goal& goal, std::size_t choice, Answer& answer, Watch& watch) {
  const Join join = recursion_.expand(goal.id).joins[choice];
  const auto entries = sums_.at(goal.memory);
  std::vector<cost::Term> memory(entries.begin(), entries.end());
  if (!take(memory, extents_of(join.left_temporary)) || !take(memory, extents_of(join.right_temporary)))
    return;
  for (const Recursion::Nest& nest : recursion_.join_nests(goal.id, join, goal.outermost)) {
    const auto terms = sums_.at(goal.time);
    std::vector<cost::Term> time(terms.begin(), terms.end());
    if (!take(time, nest.term)) continue;
    bool cleared = true;
    for (cost::Term clearing : recursion_.clearing(join, goal.outermost)) {
      cleared = cleared && (clearing == 0 || take(time, clearing));
    }
    if (!cleared) continue;
    std::vector<Order> orders;
    const bool cut = orders_of(goal.id, join.loops, max_orders, orders, [&](const Order& order) {
      return recursion_.join_term(goal.id, join, order, goal.outermost) == nest.term;
    });
    deal(time, memory, recursion_.state(join.left).loops, recursion_.state(join.right).loops,
         [&](SumId lt, SumId lm, SumId rt, SumId rm) {
           const Answer& lefts = of(join.left, lt, lm, goal.outermost, watch);
           if (lefts.members == 0) return;
           const Answer& rights = of(join.right, rt, rm, goal.outermost, watch);
           if (rights.members == 0) return;
           answer.members += lefts.members * rights.members * static_cast<unsigned long>(nest.orders);
           answer.trees_cut = answer.trees_cut || cut;
           combine(answer, Member::Kind::joined, goal, choice, orders, lefts, rights, watch);
         });
  }
}

/// Adds each pair of members of the sides with each order of the section, and their trees up to the limit.
void Finder::combine(Answer& answer, Member::Kind kind, const Goal& goal, std::size_t choice,
                     const std::vector<Order>& orders, const Answer& producers, const Answer& consumers,
                     Watch& watch) {
  const bool fused = kind == Member::Kind::fused;
  const auto tree_kind =
      fused ? kind_of(recursion_.expand(goal.id).transitions[choice]) : TreeTable::Kind::plain;
  answer.trees_cut = answer.trees_cut || producers.trees_cut || consumers.trees_cut;
  std::vector<Order> writers(producers.best.size());
  std::vector<Order> readers(consumers.best.size());
  IndexSet temporary = 0;
  if (fused) {
    const Transition t = recursion_.expand(goal.id).transitions[choice];
    temporary = t.temporary;
    for (std::size_t n = 0; n < writers.size(); ++n) append_writer(*producers.best[n].member, writers[n]);
    for (std::size_t n = 0; n < readers.size(); ++n)
      append_reader(*consumers.best[n].member, t.producer_left != t.consumer_mirrored, readers[n]);
  }
  for (const Order& order : orders) {
    if (watch.stopped()) return;
    std::int64_t own = order_penalty(goal.id, order);
    if (goal.outermost && !order.empty()) own += phase_penalty(goal.id, order);
    if (!fused) {
      const Join& join = recursion_.expand(goal.id).joins[choice];
      own += recursion_.join_jumps(goal.id, join, order, goal.outermost) * jump;
    }
    if (answer.trees.size() > max_trees_) {
      answer.trees_cut = true;
    } else if (fused) {
      for (TreeId p : producers.trees) {
        for (TreeId c : consumers.trees) answer.trees.push_back(trees_.branch(order, p, c, tree_kind));
        // Trees of one order differ, so more than the limit are left of these.
        if (answer.trees.size() > 4 * max_trees_) break;
      }
    } else {
      answer.trees.push_back(trees_.leaf(order));
    }
    for (std::size_t a = 0; a < producers.best.size(); ++a) {
      for (std::size_t b = 0; b < consumers.best.size(); ++b) {
        const Ranked& p = producers.best[a];
        const Ranked& c = consumers.best[b];
        auto member = std::make_shared<Member>();
        *member = {kind, goal.id, order, choice, p.member, c.member};
        const TreeId tree = fused ? trees_.branch(order, p.tree, c.tree, tree_kind) : trees_.leaf(order);
        const std::int64_t columns = layout_penalty(temporary, writers[a], readers[b]);
        answer.best.push_back({own + p.penalty + c.penalty + columns, tree, std::move(member)});
      }
    }
    if (answer.best.size() > 64 * best_) finish(answer);
  }
}

void Finder::append_writer(const Member& member, Order& loops) {
  loops.insert(loops.end(), member.order.begin(), member.order.end());
  if (member.kind == Member::Kind::fused) append_writer(*member.consumer, loops);
}

/// Wherever the state is split, the operand stays at its end of the side it goes to.
void Finder::append_reader(const Member& member, bool left, Order& loops) const {
  loops.insert(loops.end(), member.order.begin(), member.order.end());
  if (member.kind != Member::Kind::fused) return;
  const Transition t = recursion_.expand(member.state).transitions[member.choice];
  const bool produced = t.producer_left == left;
  append_reader(produced ? *member.producer : *member.consumer,
                left != (produced ? t.producer_mirrored : t.consumer_mirrored), loops);
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
  make_distinct(answer.trees);
  if (answer.trees.size() > max_trees_) {
    answer.trees_cut = true;
    answer.trees.resize(max_trees_);
  }
}

void Finder::add(Answer& into, const Answer& more, std::size_t best) {
  into.trees_cut = into.trees_cut || more.trees_cut;
  into.trees.insert(into.trees.end(), more.trees.begin(), more.trees.end());
  make_distinct(into.trees);
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

/// Returns the penalty of a phase's outermost loop: serial, or not the rows of a sparse operand.
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

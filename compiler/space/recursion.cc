#include "compiler/space/recursion.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/support/result.h"

// The graph of states (SparseAuto, sections 4.3 and 5.1; docs/schedule_space.md, "The recursion"). States are
// stored once, up to mirror images, in a table with open addressing; tags of hashes tell most of them apart.
// Transitions lie in arenas, so their spans stay valid while states are added. Precedence and counts of loops
// are shared by states whose operands say the same. Terms of nests are found without listing orders: a term
// depends on the first loop, the last, and the one around it. A state beyond the memory limit sets a flag,
// and whatever is found then is dropped.
namespace schaas::space {

using problem::SpaceOption;

namespace {

std::size_t hash_of(const State& state) {
  std::uint64_t hash = state.loops | (std::uint64_t{state.out} << 16) | (std::uint64_t{state.size} << 32) |
                       (static_cast<std::uint64_t>(state.newest) << 40) |
                       (std::uint64_t{state.final_result} << 42) | (std::uint64_t{state.joins} << 43);
  for (std::uint8_t n = 0; n < state.size; ++n) {
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ULL + state.slots[n];
  }
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<std::size_t>(hash ^ (hash >> 31));
}

State mirror_of(const State& state) {
  State mirror = state;
  std::reverse(mirror.slots.begin(), mirror.slots.begin() + state.size);
  if (state.newest != State::End::none) {
    mirror.newest = state.newest == State::End::left ? State::End::right : State::End::left;
  }
  return mirror;
}

/// True when the mirror image is the smaller of the two.
bool mirror_first(const State& state) {
  for (std::size_t left = 0, right = state.size; left < right;) {
    const Slot ours = state.slots[left++];
    const Slot theirs = state.slots[--right];
    if (ours != theirs) return theirs < ours;
  }
  return state.newest == State::End::right;
}

/// One of each pair of mirror images, the order as written first.
std::vector<std::vector<int>> all_operand_orders(std::size_t operands) {
  std::vector<int> order(operands);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int>> orders;
  do {
    if (std::vector<int>(order.rbegin(), order.rend()) >= order) orders.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

/// Neighbours without a common index: their product is an outer product, rarely worth a temporary.
int strangers(const Contraction& contraction, const std::vector<int>& order) {
  int count = 0;
  for (std::size_t n = 1; n < order.size(); ++n) {
    const auto& left = contraction.operands[static_cast<std::size_t>(order[n - 1])];
    const auto& right = contraction.operands[static_cast<std::size_t>(order[n])];
    count += (left.indices & right.indices) == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

Recursion::Recursion(const problem::Problem& problem, Options options)
    : contraction_(contraction_of(problem)),
      options_(options),
      shapes_(contraction_),
      table_(1024),
      operand_orders_(all_operand_orders(contraction_.operands.size())) {
  std::stable_sort(operand_orders_.begin() + 1, operand_orders_.end(), [&](const auto& a, const auto& b) {
    return strangers(contraction_, a) < strangers(contraction_, b);
  });
  if (options_.max_operand_orders != 0 && operand_orders_.size() > options_.max_operand_orders)
    operand_orders_.resize(options_.max_operand_orders);
  for (const std::vector<int>& order : operand_orders_) {
    State root;
    root.size = static_cast<std::uint8_t>(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) {
      root.slots[n] = shapes_.original(static_cast<std::size_t>(order[n]));
    }
    root.final_result = true;
    // Only the symmetric rule combines stored halves of other orders than the written one.
    root.joins = contraction_.all != 0 && (roots_.empty() || options_.rule == Rule::symmetric);
    root.loops = static_cast<std::uint16_t>(contraction_.all);
    root.out = static_cast<std::uint16_t>(contraction_.result.indices);
    roots_.push_back(intern(root));
  }
  max_bytes_ = options_.max_bytes;
}

Side Recursion::intern(const State& state) {
  if (options_.rule != Rule::published && mirror_first(state))
    return {intern_canonical(mirror_of(state)), true};
  return {intern_canonical(state), false};
}

/// Returns the number of a state, new or known; beyond the memory limit 0, which is not to be used.
StateId Recursion::intern_canonical(const State& state) {
  const std::size_t mask = table_.size() - 1;
  const std::size_t hash = hash_of(state);
  std::size_t position = hash & mask;
  for (; table_[position].id != 0; position = (position + 1) & mask) {
    const StateId id = table_[position].id - 1;
    if (table_[position].tag == tag_of(hash) && states_[id] == state) return id;
  }
  // Memory is looked at once in 256 states.
  if ((states_.size() & 255U) == 0 && bytes() > max_bytes_) overflowed_ = true;
  if (overflowed_) return 0;
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back(state);
  records_.emplace_back();
  table_[position] = {id + 1, tag_of(hash)};
  if (states_.size() * 2 > table_.size()) grow_table();
  return id;
}

void Recursion::grow_table() {
  table_.assign(table_.size() * 2, {});
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 0; id < states_.size(); ++id) {
    const std::size_t hash = hash_of(states_[id]);
    std::size_t position = hash & mask;
    while (table_[position].id != 0) position = (position + 1) & mask;
    table_[position] = {static_cast<StateId>(id) + 1, tag_of(hash)};
  }
}

std::size_t Recursion::bytes() const {
  return states_.capacity() * sizeof(State) + records_.capacity() * sizeof(Record) +
         table_.capacity() * sizeof(Position) + transitions_.bytes() + joins_.bytes();
}

/// States whose operands say the same about loops share what follows from it.
std::uint32_t Recursion::context_number(StateId id) {
  if (records_[id].context != unknown) return records_[id].context;
  const State& state = states_[id];
  std::vector<Slot> key;
  for (std::uint8_t n = 0; n < state.size; ++n) {
    if (shapes_.speaks(state.slots[n])) key.push_back(state.slots[n]);
  }
  std::sort(key.begin(), key.end());
  key.erase(std::unique(key.begin(), key.end()), key.end());
  std::vector<const AccessShape*> operands;
  for (Slot slot : key) operands.push_back(&shapes_.bound(slot));
  key.push_back(state.final_result ? 1 : 0);
  const auto [position, added] = context_numbers_.emplace(key, static_cast<std::uint32_t>(contexts_.size()));
  if (added) {
    const Context context =
        context_of(contraction_, operands, state.final_result ? &contraction_.result : nullptr);
    contexts_.push_back(std::make_unique<PerContext>(PerContext{context, Orders(context.before)}));
  }
  return records_[id].context = position->second;
}

Expansion Recursion::expand(StateId id) {
  if (!records_[id].done) {
    const State state = states_[id];
    found_transitions_.clear();
    found_joins_.clear();
    // Nothing is left to loop over: not a nest, except for a problem of scalars.
    const bool linear = (state.loops != 0 || contraction_.all == 0) && orders(id).count(state.loops) != 0;
    // The newest temporary is never a side alone.
    const int first = state.newest == State::End::left ? 2 : 1;
    const int last = state.newest == State::End::right ? state.size - 2 : state.size - 1;
    // Two operands are split where one of them, stored, is located instead of merged.
    const bool splits = state.size > 2 || (context(id).merges & state.loops) != 0;
    if (splits && std::popcount(state.loops) > 1 && linear) {
      for (int split = first; split <= last; ++split) {
        add_fusions(id, state, split, true);
        add_fusions(id, state, split, false);
      }
    }
    if (state.size > 2 && (state.joins || (state.loops != 0 && wider(SpaceOption::stored_producers)))) {
      for (int split = first; split <= last; ++split) add_join(id, state, split);
    }
    if (overflowed_) return {};
    Record& record = records_[id];
    record.linear = linear;
    record.transitions = transitions_.keep(found_transitions_).data();
    record.transition_count = static_cast<std::uint32_t>(found_transitions_.size());
    record.joins = joins_.keep(found_joins_).data();
    record.join_count = static_cast<std::uint16_t>(found_joins_.size());
    record.done = true;
  }
  const Record& record = records_[id];
  return {{record.transitions, record.transition_count}, {record.joins, record.join_count}, record.linear};
}

/// Adds the transitions of one split: one for each set of common loops, and, where asked for, the same in
/// blocks.
void Recursion::add_fusions(StateId id, const State& state, int split, bool producer_left) {
  const int begin = producer_left ? 0 : split;
  const int end = producer_left ? split : state.size;
  IndexSet inside = 0;
  IndexSet outside = 0;
  for (int n = 0; n < state.size; ++n) {
    (n >= begin && n < end ? inside : outside) |= shapes_.indices(state.slots[static_cast<std::size_t>(n)]);
  }
  // The temporary has the producer's indices that the target or the other side has.
  const IndexSet passed = (state.out & inside) | (inside & outside);

  State producer;
  producer.size = static_cast<std::uint8_t>(end - begin);
  std::copy(state.slots.begin() + begin, state.slots.begin() + end, producer.slots.begin());
  State consumer;
  consumer.final_result = state.final_result;
  consumer.newest = producer_left ? State::End::left : State::End::right;
  std::uint8_t position = producer_left ? 1 : 0;
  for (int n = 0; n < state.size; ++n) {
    if (n < begin || n >= end) consumer.slots[position++] = state.slots[static_cast<std::size_t>(n)];
  }
  consumer.size = static_cast<std::uint8_t>(state.size - producer.size + 1);
  const std::size_t newest = producer_left ? 0U : position;

  const IndexSet consumer_loops = passed | outside;
  // Rule::published: a right-hand producer of its own nest is taken for the other side's temporary.
  const bool mistaken = options_.rule == Rule::published && !producer_left;
  const auto told = [&](IndexSet prefix) {
    return plain(mistaken && prefix == 0 ? (state.out & outside) | (inside & outside) : passed);
  };
  const auto below = [&](const State& side, IndexSet loops, IndexSet out, IndexSet prefix) {
    State result = side;
    result.loops = static_cast<std::uint16_t>(loops & ~prefix);
    result.out = static_cast<std::uint16_t>(out & ~prefix);
    for (std::uint8_t n = 0; n < side.size; ++n) {
      result.slots[n] = shapes_.restricted(side.slots[n], result.loops);
    }
    return result;
  };
  const Prefixes kind = wider(SpaceOption::shorter_fusion) ? Prefixes::every : Prefixes::maximal;
  each_common_prefix(orders(id), inside, consumer_loops, kind, [&](IndexSet prefix) {
    if (prefix == 0 && producer.size < 2 && !merges(id, producer.slots[0])) return;
    consumer.slots[newest] = told(prefix);
    const Side first = intern(below(producer, inside, passed, prefix));
    const Side second = intern(below(consumer, consumer_loops, state.out, prefix));
    Transition transition;
    transition.producer = first.state;
    transition.producer_mirrored = first.mirrored;
    transition.consumer = second.state;
    transition.consumer_mirrored = second.mirrored;
    transition.prefix = static_cast<std::uint16_t>(prefix);
    transition.temporary = static_cast<std::uint16_t>(passed & ~prefix);
    transition.split = static_cast<std::uint8_t>(split);
    transition.producer_left = producer_left;
    found_transitions_.push_back(transition);
    if (!wider(SpaceOption::row_blocks) || !one_block_loop(state, prefix)) return;
    transition.blocked = true;
    transition.temporary = static_cast<std::uint16_t>(passed);
    found_transitions_.push_back(transition);
  });
}

/// The state merges a list of this operand: stored whole as an array it is located instead.
bool Recursion::merges(StateId id, Slot slot) {
  if (is_plain(slot)) return false;
  for (IndexSet rest = context(id).merges; rest != 0; rest &= rest - 1) {
    if (shapes_.bound(slot).list[static_cast<std::size_t>(std::countr_zero(rest))] != 0) return true;
  }
  return false;
}

/// Returns true for one loop that at most one sparse operand holds, each coordinate once. The entries of
/// several are merged, equal coordinates are walked together, and have no blocks.
bool Recursion::one_block_loop(const State& state, IndexSet prefix) const {
  if (std::popcount(prefix) != 1) return false;
  const auto x = static_cast<std::size_t>(std::countr_zero(prefix));
  int sparse = 0;
  for (std::uint8_t n = 0; n < state.size; ++n) {
    const Slot slot = state.slots[n];
    if (is_plain(slot)) continue;
    if ((shapes_.bound(slot).repeated & prefix) != 0) return false;
    sparse += shapes_.bound(slot).fiber[x] != 0 ? 1 : 0;
  }
  return sparse <= 1;
}

/// Adds the combination of the two halves of a split, both stored whole.
void Recursion::add_join(StateId id, const State& state, int split) {
  State left;
  State right;
  left.joins = right.joins = true;
  left.size = static_cast<std::uint8_t>(split);
  right.size = static_cast<std::uint8_t>(state.size - split);
  std::copy(state.slots.begin(), state.slots.begin() + split, left.slots.begin());
  std::copy(state.slots.begin() + split, state.slots.begin() + state.size, right.slots.begin());
  for (int n = 0; n < state.size; ++n) {
    State& side = n < split ? left : right;
    side.loops |= static_cast<std::uint16_t>(shapes_.indices(state.slots[static_cast<std::size_t>(n)]));
  }
  const auto common = static_cast<std::uint16_t>(left.loops & right.loops);
  left.out = static_cast<std::uint16_t>((state.out & left.loops) | common);
  right.out = static_cast<std::uint16_t>((state.out & right.loops) | common);

  Join join;
  join.loops = static_cast<std::uint16_t>(left.out | right.out);
  if (orders(id).count(join.loops) == 0) return;
  const Side first = intern(left);
  const Side second = intern(right);
  join.left = first.state;
  join.left_mirrored = first.mirrored;
  join.right = second.state;
  join.right_mirrored = second.mirrored;
  join.left_temporary = left.out;
  join.right_temporary = right.out;
  join.split = static_cast<std::uint8_t>(split);
  found_joins_.push_back(join);
}

Recursion::Seen Recursion::leaf_seen(StateId id, int last) const {
  const State& at = states_[id];
  Seen seen;
  for (std::uint8_t n = 0; n < at.size; ++n)
    seen.operands[seen.size++] = {shapes_.touch(at.slots[n], last), shapes_.indices(at.slots[n])};
  const auto x = static_cast<std::size_t>(last);
  seen.target = {at.final_result ? contraction_.result.touch[x] : shapes_.touch(plain(at.out), last), at.out};
  return seen;
}

Recursion::Seen Recursion::join_seen(StateId id, const Join& join, int last) const {
  Seen seen;
  for (IndexSet temporary : {join.left_temporary, join.right_temporary})
    seen.operands[seen.size++] = {shapes_.touch(plain(temporary), last), temporary};
  const State& at = states_[id];
  const auto x = static_cast<std::size_t>(last);
  seen.target = {at.final_result ? contraction_.result.touch[x] : shapes_.touch(plain(at.out), last), at.out};
  return seen;
}

/// The serial bit of a phase whose outermost loop this is.
cost::Term Recursion::serial(StateId id, int first, bool outermost) const {
  return outermost && contraction_.access_classes && ((states_[id].out >> first) & 1U) == 0 ? cost::serial_bit
                                                                                            : 0;
}

namespace {

/// Adds orders to the nest of these terms.
void add(std::vector<Recursion::Nest>& nests, cost::Term term, std::uint64_t orders,
         const Merges& merges = {}) {
  if (orders == 0) return;
  for (Recursion::Nest& known : nests) {
    if (known.term == term && known.merges == merges) {
      known.orders += orders;
      return;
    }
  }
  nests.push_back({term, orders, merges});
}

/// Adds the orders of each of `counts`. The merges of a serial phase are serial as its term is.
void add(std::vector<Recursion::Nest>& nests, cost::Term term, const MergeOrders::Counts& counts) {
  for (const auto& [parallel, orders] : counts) {
    Merges merges = parallel;
    for (cost::Term& merge : merges) merge |= term & cost::serial_bit;
    add(nests, term, orders, merges);
  }
}

Recursion::Nest nest_of(cost::Term term, Merges merges) {
  for (cost::Term& merge : merges) merge |= term & cost::serial_bit;
  return {term, 1, std::move(merges)};
}

template <class Visit>
void each_index(IndexSet set, const Visit& visit) {
  for (; set != 0; set &= set - 1) visit(std::countr_zero(set));
}

/// The inner loops of a nest in this order.
cost::InnerLoops inner_loops(const Order& order, bool outermost) {
  cost::InnerLoops loops;
  if (order.size() > 1) loops.around = order[order.size() - 2];
  loops.around_phase = outermost && order.size() == 2;
  return loops;
}

}  // namespace

template <class See, class Visit>
void Recursion::each_term(StateId id, IndexSet loops, cost::Term trips, bool outermost, const See& see,
                          const Visit& visit) {
  const int size = std::popcount(loops);
  const auto ending_in = [&](int around, int last, cost::Access access) {
    const cost::Term term = cost::make_term(trips, access);
    if (!outermost) return visit(term, -1, around, last);
    each_index(loops, [&](int first) { visit(term | serial(id, first, true), first, around, last); });
  };
  each_index(loops, [&](int last) {
    const Seen seen = see(last);
    // Row code alone depends on the loop around.
    if (size == 1 || !cost::is_row_code(seen.reads(), seen.target))
      return ending_in(-1, last, cost::leaf_access(seen.reads(), seen.target, {}));
    each_index(loops & ~(IndexSet{1} << last), [&](int around) {
      ending_in(around, last, cost::leaf_access(seen.reads(), seen.target, {around, outermost && size == 2}));
    });
  });
}

template <class See>
std::vector<Recursion::Nest> Recursion::nests(StateId id, IndexSet loops, cost::Term trips, bool outermost,
                                              const See& see) {
  std::vector<Nest> result;
  Orders& known = orders(id);
  if (!contraction_.access_classes || loops == 0) {
    add(result, trips, known.count(loops));
  } else {
    each_term(id, loops, trips, outermost, see, [&](cost::Term term, int first, int around, int last) {
      add(result, term, known.count_between(loops, first, around, last));
    });
  }
  return result;
}

template <class See>
void Recursion::terms_of(StateId id, IndexSet loops, cost::Term trips, bool outermost, const See& see,
                         std::vector<Nest>& terms) {
  terms.clear();
  if (!contraction_.access_classes || loops == 0) return terms.push_back({trips, 1, {}});
  const Orders& known = orders(id);
  each_term(id, loops, trips, outermost, see, [&](cost::Term term, int first, int around, int last) {
    const bool is_known =
        std::any_of(terms.begin(), terms.end(), [&](const Nest& nest) { return nest.term == term; });
    if (!is_known && known.any_between(loops, first, around, last)) terms.push_back({term, 1, {}});
  });
}

/// The nests of a leaf of which some loop merges lists.
void Recursion::merging_nests(StateId id, bool outermost, std::vector<Nest>& nests) {
  const IndexSet loops = states_[id].loops;
  MergeOrders orders(context(id), loops);
  each_term(
      id, loops, trips_of(context(id), loops), outermost, [&](int last) { return leaf_seen(id, last); },
      [&](cost::Term term, int first, int around, int last) {
        add(nests, term, orders.between(first, around, last));
      });
}

void Recursion::merging_prefixes(StateId id, IndexSet prefix, bool outermost, std::vector<Nest>& nests) {
  const cost::Term product = trips_of(context(id), prefix);
  MergeOrders orders(context(id), prefix);
  if (!outermost) return add(nests, product, orders.beginning_with(-1));
  each_index(prefix,
             [&](int first) { add(nests, product | serial(id, first, true), orders.beginning_with(first)); });
}

std::vector<Recursion::Nest> Recursion::leaf_nests(StateId id, bool outermost) {
  const IndexSet loops = states_[id].loops;
  if ((context(id).merges & loops) != 0) {
    std::vector<Nest> merging;
    merging_nests(id, outermost, merging);
    return merging;
  }
  return nests(id, loops, trips_of(context(id), loops), outermost,
               [&](int last) { return leaf_seen(id, last); });
}

std::vector<Recursion::Nest> Recursion::join_nests(StateId id, const Join& join, bool outermost) {
  return nests(id, join.loops, extents_of(join.loops), outermost,
               [&](int last) { return join_seen(id, join, last); });
}

void Recursion::leaf_terms(StateId id, bool outermost, std::vector<Nest>& terms) {
  const IndexSet loops = states_[id].loops;
  if ((context(id).merges & loops) != 0) {
    terms.clear();
    return merging_nests(id, outermost, terms);
  }
  terms_of(
      id, loops, trips_of(context(id), loops), outermost, [&](int last) { return leaf_seen(id, last); },
      terms);
}

void Recursion::join_terms(StateId id, const Join& join, bool outermost, std::vector<Nest>& terms) {
  terms_of(
      id, join.loops, extents_of(join.loops), outermost, [&](int last) { return join_seen(id, join, last); },
      terms);
}

std::vector<Recursion::Nest> Recursion::common_loops(StateId id, const Transition& t, bool outermost) {
  const cost::Term product = trips_of(context(id), t.prefix);
  Orders& known = orders(id);
  std::vector<Nest> result;
  if ((context(id).merges & t.prefix) != 0) {
    merging_prefixes(id, t.prefix, outermost, result);
    return result;
  }
  if (!outermost || t.prefix == 0) {
    add(result, product, known.count(t.prefix));
    return result;
  }
  each_index(t.prefix, [&](int first) {
    if (known.available(first, 0, t.prefix))
      add(result, product | serial(id, first, true), known.count(t.prefix & ~(IndexSet{1} << first)));
  });
  return result;
}

void Recursion::common_terms(StateId id, const Transition& t, bool outermost, std::vector<Nest>& terms) {
  terms.clear();
  if ((context(id).merges & t.prefix) != 0) return merging_prefixes(id, t.prefix, outermost, terms);
  const cost::Term product = trips_of(context(id), t.prefix);
  const Orders& known = orders(id);
  bool parallel = !outermost || t.prefix == 0;
  each_index(t.prefix, [&](int first) {
    parallel = parallel || (known.available(first, 0, t.prefix) && serial(id, first, true) == 0);
  });
  // A parallel phase is never worse than the same one serial.
  terms.push_back({parallel ? product : product | cost::serial_bit, 1, {}});
}

Recursion::Nest Recursion::leaf_nest(StateId id, const Order& order, bool outermost) {
  const cost::Term trips = trips_of(context(id), states_[id].loops);
  if (!contraction_.access_classes || order.empty()) return {trips, 1, {}};
  const Seen seen = leaf_seen(id, order.back());
  const cost::Access access = cost::leaf_access(seen.reads(), seen.target, inner_loops(order, outermost));
  return nest_of(cost::make_term(trips, access) | serial(id, order.front(), outermost),
                 merges_of(context(id), order));
}

cost::Term Recursion::join_term(StateId id, const Join& join, const Order& order, bool outermost) {
  const cost::Term trips = extents_of(join.loops);
  if (!contraction_.access_classes || order.empty()) return trips;
  const Seen seen = join_seen(id, join, order.back());
  return cost::make_term(trips, cost::leaf_access(seen.reads(), seen.target, inner_loops(order, outermost))) |
         serial(id, order.front(), outermost);
}

Recursion::Nest Recursion::common_nest(StateId id, const Transition& t, const Order& order, bool outermost) {
  return nest_of(trips_of(context(id), t.prefix) | (order.empty() ? 0 : serial(id, order.front(), outermost)),
                 merges_of(context(id), order));
}

cost::Term Recursion::clearing(StateId id, const Transition& t, bool outermost) {
  if (!contraction_.access_classes) return 0;
  const IndexSet blocked = t.temporary & t.prefix;
  const cost::Term reached =
      trips_of(context(t.producer), t.temporary & ~blocked) | trips_of(context(id), blocked);
  return cost::clearing(outermost && t.prefix == 0, 0, reached, extents_of(t.temporary));
}

std::array<cost::Term, 2> Recursion::clearing(const Join& join, bool outermost) {
  if (!contraction_.access_classes) return {};
  const auto side = [&](StateId producer, IndexSet temporary) {
    return cost::clearing(outermost, 0, trips_of(context(producer), temporary), extents_of(temporary));
  };
  return {side(join.left, join.left_temporary), side(join.right, join.right_temporary)};
}

int Recursion::leaf_jumps(StateId id, const Order& order, bool outermost) const {
  if (order.empty()) return 0;
  const Seen seen = leaf_seen(id, order.back());
  return cost::weight(cost::leaf_access(seen.reads(), seen.target, inner_loops(order, outermost))) - 1;
}

int Recursion::join_jumps(StateId id, const Join& join, const Order& order, bool outermost) const {
  if (order.empty()) return 0;
  const Seen seen = join_seen(id, join, order.back());
  return cost::weight(cost::leaf_access(seen.reads(), seen.target, inner_loops(order, outermost))) - 1;
}

}  // namespace schaas::space

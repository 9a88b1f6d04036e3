#include "compiler/space/recursion.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/support/result.h"

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
    root.joins = contraction_.all != 0 && (roots_.empty() || options_.rule == Rule::symmetric);
    root.loops = static_cast<std::uint16_t>(contraction_.all);
    root.out = static_cast<std::uint16_t>(contraction_.result.indices);
    roots_.push_back(intern(root));
  }
  most_bytes_ = options_.max_bytes;
}

Side Recursion::intern(const State& state) {
  if (options_.rule != Rule::published && mirror_first(state))
    return {intern_canonical(mirror_of(state)), true};
  return {intern_canonical(state), false};
}

StateId Recursion::intern_canonical(const State& state) {
  const std::size_t mask = table_.size() - 1;
  const std::size_t hash = hash_of(state);
  std::size_t place = hash & mask;
  for (; table_[place].id != 0; place = (place + 1) & mask) {
    const StateId id = table_[place].id - 1;
    if (table_[place].tag == tag_of(hash) && states_[id] == state) return id;
  }
  if ((states_.size() & 255U) == 0 && bytes() > most_bytes_) overflowed_ = true;
  if (overflowed_) return 0;
  const auto id = static_cast<StateId>(states_.size());
  states_.push_back(state);
  records_.emplace_back();
  table_[place] = {id + 1, tag_of(hash)};
  if (states_.size() * 2 > table_.size()) grow_table();
  return id;
}

void Recursion::grow_table() {
  table_.assign(table_.size() * 2, {});
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 0; id < states_.size(); ++id) {
    const std::size_t hash = hash_of(states_[id]);
    std::size_t place = hash & mask;
    while (table_[place].id != 0) place = (place + 1) & mask;
    table_[place] = {static_cast<StateId>(id) + 1, tag_of(hash)};
  }
}

std::size_t Recursion::bytes() const {
  return states_.capacity() * sizeof(State) + records_.capacity() * sizeof(Record) +
         table_.capacity() * sizeof(Place) + transitions_.bytes() + joins_.bytes();
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
  const auto [place, added] = context_numbers_.emplace(key, static_cast<std::uint32_t>(contexts_.size()));
  if (added) {
    const Context context = context_of(operands, state.final_result ? &contraction_.result : nullptr);
    contexts_.push_back(std::make_unique<PerContext>(PerContext{context, Orders(context.before)}));
  }
  return records_[id].context = place->second;
}

Expansion Recursion::expand(StateId id) {
  if (!records_[id].done) {
    const State state = states_[id];
    found_transitions_.clear();
    found_joins_.clear();
    // Nothing is left to loop over: not a nest, except for a problem of scalars.
    const bool linear = (state.loops != 0 || contraction_.all == 0) && orders(id).count(state.loops) != 0;
    const int first = state.newest == State::End::left ? 2 : 1;
    const int last = state.newest == State::End::right ? state.size - 2 : state.size - 1;
    if (state.size > 2 && std::popcount(state.loops) > 1 && linear) {
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

void Recursion::add_fusions(StateId id, const State& state, int split, bool producer_left) {
  const int begin = producer_left ? 0 : split;
  const int end = producer_left ? split : state.size;
  IndexSet inside = 0;
  IndexSet outside = 0;
  for (int n = 0; n < state.size; ++n) {
    (n >= begin && n < end ? inside : outside) |= shapes_.indices(state.slots[static_cast<std::size_t>(n)]);
  }
  const IndexSet passed = (state.out & inside) | (inside & outside);

  State producer;
  producer.size = static_cast<std::uint8_t>(end - begin);
  std::copy(state.slots.begin() + begin, state.slots.begin() + end, producer.slots.begin());
  State consumer;
  consumer.final_result = state.final_result;
  consumer.newest = producer_left ? State::End::left : State::End::right;
  std::uint8_t place = producer_left ? 1 : 0;
  for (int n = 0; n < state.size; ++n) {
    if (n < begin || n >= end) consumer.slots[place++] = state.slots[static_cast<std::size_t>(n)];
  }
  consumer.size = static_cast<std::uint8_t>(state.size - producer.size + 1);
  const std::size_t newest = producer_left ? 0U : place;

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
    if (prefix == 0 && producer.size < 2) return;
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

/// One loop, that at most one sparse operand holds: the entries of several are merged and have no blocks.
bool Recursion::one_block_loop(const State& state, IndexSet prefix) const {
  if (std::popcount(prefix) != 1) return false;
  const auto x = static_cast<std::size_t>(std::countr_zero(prefix));
  int sparse = 0;
  for (std::uint8_t n = 0; n < state.size; ++n) {
    const Slot slot = state.slots[n];
    if (!is_plain(slot)) sparse += shapes_.bound(slot).fiber[x] != 0 ? 1 : 0;
  }
  return sparse <= 1;
}

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

cost::Access Recursion::leaf_class(StateId id, int last) const {
  if (last < 0) return cost::Access::contiguous;
  const State& at = state(id);
  const auto x = static_cast<std::size_t>(last);
  std::vector<cost::Touch> touches;
  for (std::uint8_t n = 0; n < at.size; ++n) touches.push_back(shapes_.touch(at.slots[n], last));
  return cost::leaf_access(
      touches, at.final_result ? contraction_.result.touch[x] : shapes_.touch(plain(at.out), last));
}

cost::Access Recursion::join_class(StateId id, int last) const {
  if (last < 0 || !state(id).final_result) return cost::Access::contiguous;
  return cost::leaf_access({cost::Touch::adjacent},
                           contraction_.result.touch[static_cast<std::size_t>(last)]);
}

int Recursion::leaf_jumps(StateId id, int last) const { return cost::weight(leaf_class(id, last)) - 1; }
int Recursion::join_jumps(StateId id, int last) const { return cost::weight(join_class(id, last)) - 1; }

cost::Term Recursion::leaf_term(StateId id, int last) {
  const cost::Term loops = trips_of(context(id), state(id).loops);
  return cost::make_term(loops,
                         contraction_.access_classes ? leaf_class(id, last) : cost::Access::contiguous);
}

cost::Term Recursion::join_term(StateId id, IndexSet loops, int last) const {
  return cost::make_term(extents_of(loops),
                         contraction_.access_classes ? join_class(id, last) : cost::Access::contiguous);
}

std::vector<std::pair<int, std::uint64_t>> Recursion::innermost_choices(StateId id, IndexSet loops) {
  Orders& known = orders(id);
  if (loops == 0) return {{-1, 1}};
  std::vector<std::pair<int, std::uint64_t>> choices;
  for (IndexSet rest = loops; rest != 0; rest &= rest - 1) {
    const int x = std::countr_zero(rest);
    if (const std::uint64_t count = known.count_ending_in(loops, x); count != 0)
      choices.emplace_back(x, count);
  }
  return choices;
}

}  // namespace schaas::space

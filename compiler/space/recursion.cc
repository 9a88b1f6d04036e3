#include "compiler/space/recursion.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "compiler/support/result.h"

namespace schaas::space {

std::size_t Recursion::StateHash::operator()(const State& state) const {
  std::uint64_t hash = state.loops | (std::uint64_t{state.out} << 16) | (std::uint64_t{state.size} << 32) |
                       (static_cast<std::uint64_t>(state.newest) << 40) |
                       (std::uint64_t{state.final_result} << 42) | (std::uint64_t{state.joins} << 43);
  for (std::uint8_t n = 0; n < state.size; ++n) {
    hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ULL + state.slots[n];
  }
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return static_cast<std::size_t>(hash ^ (hash >> 31));
}

namespace {

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
      operand_orders_(all_operand_orders(contraction_.operands.size())) {
  if (options_.max_operand_orders != 0 && operand_orders_.size() > options_.max_operand_orders) {
    std::stable_sort(operand_orders_.begin() + 1, operand_orders_.end(), [&](const auto& a, const auto& b) {
      return strangers(contraction_, a) < strangers(contraction_, b);
    });
    operand_orders_.resize(options_.max_operand_orders);
  }
  for (const std::vector<int>& order : operand_orders_) {
    State root;
    root.size = static_cast<std::uint8_t>(order.size());
    for (std::size_t n = 0; n < order.size(); ++n) root.slots[n] = static_cast<std::uint32_t>(order[n]);
    root.final_result = true;
    root.joins = contraction_.all != 0 && (roots_.empty() || options_.rule == Rule::symmetric);
    root.loops = contraction_.all;
    root.out = contraction_.result.indices;
    roots_.push_back(intern(root));
  }
}

StateId Recursion::intern(const State& state) {
  const auto found = ids_.find(state);
  if (found != ids_.end()) return found->second;
  if (states_.size() >= options_.max_states) {
    overflowed_ = true;
    return 0;
  }
  const auto id = static_cast<StateId>(states_.size());
  const auto inserted = ids_.emplace(state, id).first;
  states_.push_back(&inserted->first);
  expansions_.push_back(std::make_unique<Expansion>());
  return id;
}

IndexSet Recursion::indices_of(const State& state, int slot) const {
  const std::uint32_t content = state.slots[static_cast<std::size_t>(slot)];
  if (content & State::temporary_flag) return content & (State::temporary_flag - 1);
  return contraction_.operands[content].indices & state.loops;
}

Recursion::PerContext& Recursion::per_context(std::uint32_t members, bool final_result) {
  auto& entry = contexts_[members << 1 | (final_result ? 1U : 0U)];
  if (!entry) {
    const Context context = context_of(contraction_, members, final_result);
    entry = std::make_unique<PerContext>(PerContext{context, Orders(context.before)});
  }
  return *entry;
}
Orders& Recursion::orders(std::uint32_t members, bool final_result) {
  return per_context(members, final_result).orders;
}
const Context& Recursion::context(std::uint32_t members, bool final_result) {
  return per_context(members, final_result).context;
}

const Expansion& Recursion::expand(StateId id) {
  Expansion& expansion = *expansions_[id];
  if (expansion.done) return expansion;
  expansion.done = true;
  const State state = *states_[id];
  for (std::uint8_t n = 0; n < state.size; ++n) {
    if ((state.slots[n] & State::temporary_flag) == 0) expansion.members |= 1U << state.slots[n];
  }
  expansion.linear = orders(expansion.members, state.final_result).count(state.loops);
  // Nothing is left to loop over: not a nest, except for a problem of scalars.
  if (state.loops == 0 && contraction_.all != 0) expansion.linear = 0;
  if (state.size > 2 && std::popcount(state.loops) > 1 && expansion.linear != 0) {
    const int first = state.newest == State::End::left ? 2 : 1;
    const int last = state.newest == State::End::right ? state.size - 2 : state.size - 1;
    for (int split = first; split <= last; ++split) {
      add_fusions(state, expansion, split, true);
      add_fusions(state, expansion, split, false);
    }
  }
  if (state.joins && state.size > 2) {
    for (int split = 1; split < state.size; ++split) add_join(state, expansion, split);
  }
  if (overflowed_) {
    expansion.transitions.clear();
    expansion.joins.clear();
  }
  return expansion;
}

void Recursion::add_fusions(const State& state, Expansion& expansion, int split, bool producer_left) {
  const int begin = producer_left ? 0 : split;
  const int end = producer_left ? split : state.size;
  IndexSet inside = 0;
  IndexSet outside = 0;
  for (int n = 0; n < state.size; ++n) (n >= begin && n < end ? inside : outside) |= indices_of(state, n);
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
    return mistaken && prefix == 0 ? (state.out & outside) | (inside & outside) : passed;
  };
  Orders& known = orders(expansion.members, state.final_result);
  each_common_prefix(known, inside, consumer_loops, [&](IndexSet prefix) {
    if (prefix == 0 && producer.size < 2) return;
    const auto without_prefix = [&](State side, IndexSet loops, IndexSet out) {
      side.loops = loops & ~prefix;
      side.out = out & ~prefix;
      for (std::uint8_t n = 0; n < side.size; ++n) {
        if (side.slots[n] & State::temporary_flag) side.slots[n] &= ~prefix | State::temporary_flag;
      }
      return side;
    };
    consumer.slots[newest] = State::temporary_flag | told(prefix);
    Transition transition;
    transition.producer = intern(without_prefix(producer, inside, passed));
    transition.consumer = intern(without_prefix(consumer, consumer_loops, state.out));
    transition.prefix = prefix;
    transition.temporary = passed & ~prefix;
    transition.split = static_cast<std::uint8_t>(split);
    transition.producer_left = producer_left;
    transition.orders = known.count(prefix);
    expansion.transitions.push_back(transition);
  });
}

void Recursion::add_join(const State& state, Expansion& expansion, int split) {
  State left;
  State right;
  left.joins = right.joins = true;
  left.size = static_cast<std::uint8_t>(split);
  right.size = static_cast<std::uint8_t>(state.size - split);
  std::copy(state.slots.begin(), state.slots.begin() + split, left.slots.begin());
  std::copy(state.slots.begin() + split, state.slots.begin() + state.size, right.slots.begin());
  for (int n = 0; n < state.size; ++n) (n < split ? left : right).loops |= indices_of(state, n);
  const IndexSet common = left.loops & right.loops;
  left.out = (state.out & left.loops) | common;
  right.out = (state.out & right.loops) | common;

  Join join;
  join.left = intern(left);
  join.right = intern(right);
  join.left_temporary = left.out;
  join.right_temporary = right.out;
  join.loops = left.out | right.out;
  join.split = static_cast<std::uint8_t>(split);
  join.orders = orders(expansion.members, state.final_result).count(join.loops);
  expansion.joins.push_back(join);
}

cost::Access Recursion::leaf_class(StateId id, int last) const {
  if (last < 0) return cost::Access::contiguous;
  const State& at = state(id);
  const auto x = static_cast<std::size_t>(last);
  const auto stored = [x](IndexSet temporary) {
    return (temporary >> x) & 1U ? cost::Touch::adjacent : cost::Touch::absent;
  };
  std::vector<cost::Touch> touches;
  for (std::uint8_t n = 0; n < at.size; ++n) {
    const std::uint32_t slot = at.slots[n];
    touches.push_back(slot & State::temporary_flag ? stored(slot) : contraction_.operands[slot].touch[x]);
  }
  return cost::leaf_access(touches, at.final_result ? contraction_.result.touch[x] : stored(at.out));
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

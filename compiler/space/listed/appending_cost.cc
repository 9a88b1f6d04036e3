#include "compiler/space/listed/appending_cost.h"

#include <algorithm>
#include <limits>

// Costs of schedules with a sparse result, by one walk of a member that adds what cost::of adds for its tree.
// The path to the result's assignment tells how many loops come before the workspace. The section that this
// number ends in gathers: its loops up to there are around the workspace, and all below computes into it.
// Terms are collected unsorted and sorted at the end.
namespace schaas::space {
namespace {

/// No workspace is to come.
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

IndexSet set_of(std::span<const std::uint8_t> loops) {
  IndexSet set = 0;
  for (std::uint8_t x : loops) set |= IndexSet{1} << x;
  return set;
}

bool has(IndexSet set, std::uint8_t x) { return ((set >> x) & 1U) != 0; }

}  // namespace

AppendingCosts::AppendingCosts(Recursion& recursion, const problem::Problem& problem)
    : recursion_(recursion), rule_(problem, problem.operands()), copies_(cost::copying(problem)) {
  const index_notation::Access& result = problem.statement.result;
  const auto& indices = recursion.contraction().indices;
  for (std::size_t x = 0; x < indices.size(); ++x) {
    levels_.push_back(rule_.level_of(indices[x]));
    result_touch_[x] = cost::touch(result.indices, problem.formats.at(result.tensor), indices[x]);
  }
}

cost::Cost AppendingCosts::of(const Member& root) {
  cost_ = copies_;
  lists_ = false;
  gathered_.clear();
  std::vector<int> loops;
  path(root, loops);
  const std::size_t ordered = rule_.in_order(loops);
  Position position;
  position.into = Into::result;
  // Loops that append all levels in order need no workspace.
  position.until = ordered == rule_.needed() ? never : ordered;
  one_level_ = ordered > 0 && ordered + 1 == rule_.needed();
  if (position.until == 0) {
    const IndexSet whole = recursion_.state(root.state).out;
    gather(position, recursion_.context(root.state), whole);
    cost_.time.push_back(cost::make_term(extents_of(whole), cost::Access::cleared));
  }
  walk(root, position);
  std::sort(cost_.time.begin(), cost_.time.end());
  std::sort(cost_.memory.begin(), cost_.memory.end());
  return cost_;
}

std::optional<cost::Cost> AppendingCosts::with_table() const {
  if (gathered_.empty() || !one_level_) return std::nullopt;
  cost::Cost table = cost_;
  for (const cost::Term extents : gathered_)
    table.memory.erase(std::find(table.memory.begin(), table.memory.end(), extents));
  table.memory.insert(table.memory.end(), cost::table_elements, listed_ & cost::variables_mask & ~around_);
  table.time.push_back(cost::make_term(listed_, cost::Access::gathered));
  std::sort(table.time.begin(), table.time.end());
  std::sort(table.memory.begin(), table.memory.end());
  return table;
}

/// The loops on the way to the result's assignment.
void AppendingCosts::path(const Member& member, std::vector<int>& loops) const {
  for (std::uint8_t x : member.order) loops.push_back(levels_[x]);
  if (member.kind == Member::Kind::fused) path(*member.consumer, loops);
}

void AppendingCosts::walk(const Member& member, const Position& position) {
  switch (member.kind) {
    case Member::Kind::linear:
      return leaf(member, nullptr, position);
    case Member::Kind::fused:
      return fused(member, position);
    case Member::Kind::joined:
      return joined(member, position);
  }
}

/// Returns the serial bit when the member's first loop begins a phase and is no index of its target.
cost::Term AppendingCosts::serial(const Member& member, const Position& position) const {
  if (!position.outermost || member.order.empty()) return 0;
  return has(recursion_.state(member.state).out, member.order.front()) ? 0 : cost::serial_bit;
}

void AppendingCosts::fused(const Member& member, Position position) {
  const Transition t = recursion_.expand(member.state).transitions[member.choice];
  const Context& context = recursion_.context(member.state);
  const std::size_t loops = member.order.size();
  const cost::Term clearing = recursion_.clearing(member.state, t, position.outermost);
  if (position.into == Into::result && position.until <= loops) {
    Position inside = position;
    const IndexSet around = set_of(std::span(member.order).first(position.until));
    inside.above |= trips_of(context, around);
    gather(inside, context, recursion_.state(member.state).out & ~around);
    position.into = inside.into;
  }
  merge(context, member.order, position.above | serial(member, position));
  position.above |= trips_of(context, t.prefix) | serial(member, position);
  position.outermost = position.outermost && loops == 0;
  if (position.until != never) position.until -= std::min(position.until, loops);
  cost_.memory.push_back(extents_of(t.temporary));
  if (clearing != 0) cost_.time.push_back(clearing | position.above);
  walk(*member.producer, {position.above, position.outermost, Into::temporary, never});
  walk(*member.consumer, position);
}

void AppendingCosts::joined(const Member& member, const Position& position) {
  const Join join = recursion_.expand(member.state).joins[member.choice];
  cost_.memory.push_back(extents_of(join.left_temporary));
  cost_.memory.push_back(extents_of(join.right_temporary));
  for (const cost::Term clearing : recursion_.clearing(join, position.outermost)) {
    if (clearing != 0) cost_.time.push_back(clearing | position.above);
  }
  const Position side{position.above, position.outermost, Into::temporary, never};
  walk(*member.producer, side);
  walk(*member.consumer, side);
  leaf(member, &join, position);
}

void AppendingCosts::leaf(const Member& member, const Join* join, Position position) {
  const State& state = recursion_.state(member.state);
  // A combining nest reads temporaries alone: of both it has to run over everything.
  static const Context everywhere = context_of({}, {}, nullptr);
  const Context& context = join == nullptr ? recursion_.context(member.state) : everywhere;
  const std::span<const std::uint8_t> order(member.order);
  const cost::Term serial = this->serial(member, position);
  std::size_t begin = 0;
  if (position.into == Into::result && position.until < order.size()) {
    begin = position.until;
    const IndexSet around = set_of(order.first(begin));
    Position inside = position;
    inside.above |= trips_of(context, around);
    gather(inside, context, state.out & ~around);
    position.into = inside.into;
  }
  const cost::Term trips = trips_of(context, set_of(order)) | position.above | serial;
  merge(context, member.order, position.above | serial);
  const cost::Access access =
      access_of(member, join, position.into, order.subspan(begin), position.outermost && begin == 0);
  cost_.time.push_back(cost::make_term(trips, access));
  if (position.into == Into::workspace) listed_ = trips;
  if (position.into == Into::workspace && lists_)
    cost_.time.push_back(cost::make_term(trips, cost::Access::gathered));
}

void AppendingCosts::merge(const Context& context, const Order& order, cost::Term above) {
  for (const cost::Term merge : merges_of(context, order)) cost_.time.push_back(merge | above);
}

cost::Access AppendingCosts::access_of(const Member& member, const Join* join, Into into,
                                       std::span<const std::uint8_t> own, bool outermost) const {
  if (own.empty()) return cost::Access::contiguous;  // two scalars combined
  const State& state = recursion_.state(member.state);
  const Shapes& shapes = recursion_.shapes();
  const int last = own.back();
  std::array<cost::Seen, max_operands> operands;
  std::size_t size = 0;
  const auto see = [&](Slot slot) { operands[size++] = {shapes.touch(slot, last), shapes.indices(slot)}; };
  if (join == nullptr) {
    std::for_each(state.slots.begin(), state.slots.begin() + state.size, see);
  } else {
    see(plain(join->left_temporary));
    see(plain(join->right_temporary));
  }
  const cost::Seen target{
      into == Into::result ? result_touch_[own.back()] : shapes.touch(plain(state.out), last), state.out};
  cost::InnerLoops loops;
  if (own.size() > 1) loops.around = own[own.size() - 2];
  loops.around_phase = outermost && own.size() == 2;
  return cost::leaf_access({operands.data(), size}, target, loops);
}

void AppendingCosts::gather(Position& position, const Context& context, IndexSet missing) {
  position.into = Into::workspace;
  gathered_.assign(2, extents_of(missing));  // values; the list and flags
  around_ = position.above;
  cost_.memory.insert(cost_.memory.end(), gathered_.begin(), gathered_.end());
  // A producer that a sparse operand restricts writes at most as many entries as it has trips.
  lists_ = (trips_of(context, missing) != extents_of(missing));
  if (!lists_)
    cost_.time.push_back(cost::make_term(position.above | extents_of(missing), cost::Access::gathered));
}

}  // namespace schaas::space

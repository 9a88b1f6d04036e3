#include "compiler/space/loop_trees.h"

#include <algorithm>
#include <bit>

// Distinct loop trees. Each is stored once by its loops and the numbers of its subtrees (hash consing), so
// equal trees have equal numbers. A state's trees are a sorted list of numbers.
namespace schaas::space {

std::size_t TreeTable::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash =
      key.loops * 0x9e3779b97f4a7c15ULL + key.length + (static_cast<std::uint64_t>(key.kind) << 8);
  hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9ULL + (std::uint64_t{key.producer} << 32 | key.consumer);
  hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebULL;
  return static_cast<std::size_t>(hash ^ (hash >> 31));
}

TreeId TreeTable::intern(const Order& loops, TreeId producer, TreeId consumer, Kind kind) {
  Key key{0, static_cast<std::uint32_t>(loops.size()), producer, consumer, kind};
  // Sixteen loops of four bits fill the word.
  for (std::uint8_t loop : loops) key.loops = key.loops << 4 | loop;
  return ids_.emplace(key, static_cast<TreeId>(ids_.size())).first->second;
}

const std::vector<TreeId>& LoopTrees::of(StateId id, int loop_depth, int memory_depth, Watch& watch) {
  static const std::vector<TreeId> nothing;
  const auto key = std::make_tuple(id, loop_depth, memory_depth);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  if (watch.stopped() || loop_depth < 0) return nothing;
  const Expansion expansion = recursion_.expand(id);
  const State state = recursion_.state(id);
  Orders& orders = recursion_.orders(id);
  std::vector<TreeId> found;
  const auto add_leaves = [&](IndexSet loops) {
    orders.each(loops, [&](const Order& order) {
      found.push_back(trees_.leaf(order));
      return found.size() <= limit_;
    });
  };
  if (expansion.linear && std::popcount(state.loops) <= loop_depth) add_leaves(state.loops);
  for (const Transition& t : expansion.transitions) {
    const int below = loop_depth - std::popcount(t.prefix);
    if (std::popcount(t.temporary) > memory_depth || below < 0) continue;
    const auto& producers = of(t.producer, below, memory_depth, watch);
    const auto& consumers = of(t.consumer, below, memory_depth, watch);
    orders.each(t.prefix, [&](const Order& prefix) {
      for (TreeId p : producers) {
        if (found.size() > 4 * limit_ || watch.stopped()) return false;
        for (TreeId c : consumers) found.push_back(trees_.branch(prefix, p, c, kind_of(t)));
      }
      return true;
    });
  }
  for (const Join& join : expansion.joins) {
    const int depth = std::max(std::popcount(join.left_temporary), std::popcount(join.right_temporary));
    if (depth > memory_depth || std::popcount(join.loops) > loop_depth) continue;
    if (of(join.left, loop_depth, memory_depth, watch).empty()) continue;
    if (of(join.right, loop_depth, memory_depth, watch).empty()) continue;
    add_leaves(join.loops);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > limit_) {
    watch.stop(support::exhausted("loop-trees",
                                  "there are more than " + std::to_string(limit_) + " loop trees to count"));
  }
  if (watch.stopped()) return nothing;
  found.shrink_to_fit();
  return known_[key] = std::move(found);
}

}  // namespace schaas::space

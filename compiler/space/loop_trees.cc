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

void make_distinct(std::vector<TreeId>& trees) {
  std::sort(trees.begin(), trees.end());
  trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
}

bool add_up_to(std::uint64_t limit, TreeId tree, std::vector<TreeId>& trees) {
  trees.push_back(tree);
  if (trees.size() <= 4 * limit) return true;
  make_distinct(trees);
  return trees.size() <= limit;
}

void LoopTrees::stop(Watch& watch) const {
  watch.stop(support::exhausted("loop-trees",
                                "there are more than " + std::to_string(limit_) + " loop trees to count"));
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
  const auto add = [&](TreeId tree) {
    const bool fits = add_up_to(limit_, tree, found);
    if (!fits) stop(watch);
    return fits;
  };
  const auto add_leaves = [&](IndexSet loops) {
    orders.each(loops, [&](const Order& order) { return add(trees_.leaf(order)); });
  };
  if (expansion.linear && std::popcount(state.loops) <= loop_depth) add_leaves(state.loops);
  for (const Transition& t : expansion.transitions) {
    const int below = loop_depth - std::popcount(t.prefix);
    if (std::popcount(t.temporary) > memory_depth || below < 0) continue;
    const auto& producers = of(t.producer, below, memory_depth, watch);
    const auto& consumers = of(t.consumer, below, memory_depth, watch);
    orders.each(t.prefix, [&](const Order& prefix) {
      for (TreeId p : producers) {
        if (watch.stopped()) return false;
        for (TreeId c : consumers) {
          if (!add(trees_.branch(prefix, p, c, kind_of(t)))) return false;
        }
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
  make_distinct(found);
  if (found.size() > limit_) stop(watch);
  if (watch.stopped()) return nothing;
  found.shrink_to_fit();
  return known_[key] = std::move(found);
}

}  // namespace schaas::space

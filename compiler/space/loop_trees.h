#pragma once
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/space/recursion.h"
#include "compiler/space/watch.h"

namespace schaas::space {

using TreeId = std::uint32_t;

/// Loop trees, each stored once: loops, then nothing or a producer and a consumer tree. As in the papers, the
/// tree of a double-producer combination is its combining nest alone.
class TreeTable {
 public:
  static constexpr TreeId none = 0xffffffffU;
  enum class Kind : std::uint32_t { plain, blocked };
  TreeId leaf(const Order& loops) { return intern(loops, none, none, Kind::plain); }
  TreeId branch(const Order& loops, TreeId producer, TreeId consumer, Kind kind) {
    return intern(loops, producer, consumer, kind);
  }
  /// About.
  std::size_t bytes() const { return ids_.size() * (sizeof(Key) + 4 * sizeof(void*)); }

 private:
  struct Key {
    std::uint64_t loops;  ///< four bits each
    std::uint32_t length;
    TreeId producer, consumer;
    Kind kind;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  TreeId intern(const Order& loops, TreeId producer, TreeId consumer, Kind kind);
  std::unordered_map<Key, TreeId, KeyHash> ids_;
};

/// Sorts trees and drops those that occur before.
void make_distinct(std::vector<TreeId>& trees);
/// Adds a tree to a list that may name trees several times. Makes the list distinct where it has grown to
/// four times the limit; false when more than `limit` trees are left then.
bool add_up_to(std::uint64_t limit, TreeId tree, std::vector<TreeId>& trees);

inline TreeTable::Kind kind_of(const Transition& transition) {
  return transition.blocked ? TreeTable::Kind::blocked : TreeTable::Kind::plain;
}

/// The distinct loop trees of the members of a state within depth bounds.
class LoopTrees {
 public:
  LoopTrees(Recursion& recursion, TreeTable& trees, std::uint64_t limit)
      : recursion_(recursion), trees_(trees), limit_(limit) {}

  /// Sorted numbers of the trees of members whose time terms have at most `loop_depth` factors and whose
  /// temporaries have at most `memory_depth` indices.
  const std::vector<TreeId>& of(StateId id, int loop_depth, int memory_depth, Watch& watch);

 private:
  void stop(Watch& watch) const;  ///< for more trees than the limit

  Recursion& recursion_;
  TreeTable& trees_;
  std::uint64_t limit_;
  std::map<std::tuple<StateId, int, int>, std::vector<TreeId>> known_;
};

}  // namespace schaas::space

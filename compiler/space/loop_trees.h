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
  TreeId leaf(const Order& loops) { return intern(loops, none, none); }
  TreeId branch(const Order& loops, TreeId producer, TreeId consumer) {
    return intern(loops, producer, consumer);
  }

 private:
  struct Key {
    std::uint64_t loops;  ///< four bits each
    std::uint32_t length;
    TreeId producer, consumer;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  TreeId intern(const Order& loops, TreeId producer, TreeId consumer);
  std::unordered_map<Key, TreeId, KeyHash> ids_;
};

/// The distinct loop trees of the members of a state within depth bounds.
class LoopTrees {
 public:
  LoopTrees(Recursion& recursion, TreeTable& trees, std::uint64_t limit)
      : recursion_(recursion), trees_(trees), limit_(limit) {}

  /// Sorted numbers of the trees of members whose time terms have at most `loop_depth` factors and whose
  /// temporaries have at most `memory_depth` indices.
  const std::vector<TreeId>& of(StateId id, int loop_depth, int memory_depth, Watch& watch);

 private:
  Recursion& recursion_;
  TreeTable& trees_;
  std::uint64_t limit_;
  std::map<std::tuple<StateId, int, int>, std::vector<TreeId>> known_;
};

}  // namespace schaas::space

#pragma once
#include <functional>
#include <vector>

#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

__extension__ typedef unsigned __int128 Multiplicity;

/// Every (time, memory) class of a state with its multiplicity, leaving out members with a temporary of more
/// than `max_memory_depth` indices.
class Classes {
 public:
  struct Entry {
    SumId time = 0, memory = 0;
    Multiplicity members = 0;
  };
  Classes(Recursion& recursion, Sums& sums, int max_memory_depth)
      : recursion_(recursion), sums_(sums), max_memory_depth_(max_memory_depth) {}

  /// Sorted by (time, memory) number; the reference stays valid.
  const std::vector<Entry>& of(StateId id, Watch& watch);

 private:
  class Gathering;
  void fuse(const Transition& t, cost::Term prefix, Gathering& sum, Watch& watch);
  void join(StateId id, const Join& join, Gathering& sum, Watch& watch);

  Recursion& recursion_;
  Sums& sums_;
  int max_memory_depth_;
  std::vector<std::unique_ptr<std::vector<Entry>>> known_;
};

}  // namespace schaas::space

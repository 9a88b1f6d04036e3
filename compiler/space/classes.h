#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include <gmpxx.h>

#include "compiler/space/count.h"
#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// Every (time, memory) class of a state with its multiplicity, leaving out members with a temporary of more
/// than `max_memory_depth` indices. Number: Multiplicity, which may overflow, or mpz_class.
template <class Number>
class Classes {
 public:
  struct Entry {
    SumId time = 0, memory = 0;
    Number members = 0;
  };
  Classes(Recursion& recursion, Sums& sums, int max_memory_depth)
      : recursion_(recursion), sums_(sums), max_memory_depth_(max_memory_depth) {}

  /// Returns the classes of members whose time terms have at most `loop_depth` factors. Sorted by (time,
  /// memory) number; the reference stays valid. `outermost`: no loop is above the state.
  const std::vector<Entry>& of(StateId id, bool outermost, int loop_depth, Watch& watch);
  /// True when a multiplicity did not fit: nothing found is to be used.
  bool overflowed() const { return overflowed_; }

 private:
  class Gathering;
  void fuse(StateId id, const Transition& t, bool outermost, int loop_depth, Gathering& sum, Watch& watch);
  void join(StateId id, const Join& join, bool outermost, int loop_depth, Gathering& sum, Watch& watch);
  SumId with(SumId sum, const Merges& merges);
  void add(Gathering& sum, const Entry& a, const Entry& b, std::uint64_t orders, SumId time, SumId memory);

  Recursion& recursion_;
  Sums& sums_;
  int max_memory_depth_;
  bool overflowed_ = false;
  std::size_t entries_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<std::vector<Entry>>>
      known_;  ///< by state, depth, position
};

extern template class Classes<Multiplicity>;
extern template class Classes<mpz_class>;

}  // namespace schaas::space

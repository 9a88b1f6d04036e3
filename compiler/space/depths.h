#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/space/count.h"
#include "compiler/space/recursion.h"
#include "compiler/space/space.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// Numbers of members of a state by pair of depths: the papers' stage 2 without its classes. Number:
/// Multiplicity, which may overflow, or mpz_class.
template <class Number>
class DepthCounts {
 public:
  struct Entry {
    Space::Depths depths;
    Number members = 0;
  };
  explicit DepthCounts(Recursion& recursion) : recursion_(recursion) {}

  /// Ascending; the reference stays valid.
  const std::vector<Entry>& of(StateId id, Watch& watch);
  /// True when a number did not fit: nothing found is to be used.
  bool overflowed() const { return overflowed_; }

 private:
  class Table;
  Recursion& recursion_;
  bool overflowed_ = false;
  std::unordered_map<StateId, std::vector<Entry>> known_;
};

extern template class DepthCounts<Multiplicity>;
extern template class DepthCounts<mpz_class>;

}  // namespace schaas::space

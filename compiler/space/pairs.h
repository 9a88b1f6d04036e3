#pragma once
#include <memory>
#include <vector>

#include "compiler/space/recursion.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// The pairs of a state as SparseAuto tells them apart (its table 3, in parentheses). Time is a sum, memory
/// the list of temporaries in preorder: a scalar inside a row is not a row inside a scalar.
/// Members with a temporary of more than `max_memory_depth` indices are left out.
class Pairs {
 public:
  struct Entry {
    SumId time = 0;
    SumId memory = 0;  ///< a list, kept among the sums but not sorted
    auto operator<=>(const Entry&) const = default;
  };
  Pairs(Recursion& recursion, Sums& sums, int max_memory_depth)
      : recursion_(recursion), sums_(sums), max_memory_depth_(max_memory_depth) {}

  /// Sorted; the reference stays valid.
  const std::vector<Entry>& of(StateId id, Watch& watch);

 private:
  SumId list(const std::vector<cost::Term>& own, SumId first, SumId second);

  Recursion& recursion_;
  Sums& sums_;
  int max_memory_depth_;
  std::vector<std::unique_ptr<std::vector<Entry>>> known_;
};

}  // namespace schaas::space

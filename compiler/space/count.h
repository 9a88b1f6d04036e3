#pragma once
#include <vector>

#include <gmpxx.h>

#include "compiler/space/recursion.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// Exact numbers of members by state.
class Counter {
 public:
  explicit Counter(Recursion& recursion) : recursion_(recursion) {}
  /// By value: the memo may grow under a reference.
  mpz_class of(StateId id, Watch& watch);

 private:
  Recursion& recursion_;
  std::vector<mpz_class> counts_;
  std::vector<bool> known_;
};

}  // namespace schaas::space

#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "compiler/space/classes.h"
#include "compiler/space/recursion.h"
#include "compiler/space/space.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// The classes of a state that no other class of the state is proven to cover.
///
/// Why pruning below is safe: every member of a state is completed in the same ways whatever it looks like
/// inside, and a completion multiplies its time by a product of loops, adds terms to it, and adds entries to
/// its memory. So when c <= s holds for two members of a state at all sizes, it holds for each of their
/// completions. Sampled values decide most comparisons (a class that is better somewhere stays); only where
/// one class is no better at any sample is a proof asked for.
class Pareto {
 public:
  struct Entry {
    SumId time = 0, memory = 0;
    Multiplicity members = 0;    ///< of the class below the pruned states: a lower bound
    std::vector<double> values;  ///< weighted time at each sample, then memory at each sample
    double elements = 0;         ///< memory at the first sample, free temporaries included: decides ties
  };
  Pareto(Recursion& recursion, Sums& sums, Dominance& dominance, int max_memory_depth);

  const std::vector<Entry>& of(StateId id, Watch& watch);
  std::vector<Entry> of_roots(Watch& watch);

  /// Combinations refused or driven out so far, over all states.
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Values = std::vector<double>;
  struct Point;  ///< a class being built
  void linear(StateId id, std::vector<Entry>& front);
  void fuse(StateId id, const Transition& t, std::vector<Entry>& front, Watch& watch);
  void join(StateId id, const Join& join, std::vector<Entry>& front, Watch& watch);
  void offer(std::vector<Entry>& front, const Point& point);
  bool covered(const Entry& winner, const Entry& loser);
  SumId costly(SumId memory);
  Entry entry_of(const Point& point);

  const Values& time_values(cost::Term term);
  const Values& memory_values(cost::Term term);

  Recursion& recursion_;
  Sums& sums_;
  Dominance& dominance_;
  std::size_t samples_;
  int max_memory_depth_;
  std::uint64_t dropped_ = 0;
  std::vector<std::unique_ptr<std::vector<Entry>>> known_;
  std::unordered_map<cost::Term, Values> time_values_, memory_values_;
  std::unordered_map<std::uint64_t, bool> time_proofs_, memory_proofs_;
  std::unordered_map<SumId, SumId> costly_;
};

}  // namespace schaas::space

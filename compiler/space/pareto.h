#pragma once
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/space/arena.h"
#include "compiler/space/recursion.h"
#include "compiler/space/space.h"
#include "compiler/space/sums.h"
#include "compiler/space/watch.h"

namespace schaas::space {

/// Answers by pair of sums, each stored in one word.
class PairAnswers {
 public:
  PairAnswers() : table_(1024, 0) {}
  /// The stored answer, or `ask()`, stored.
  template <class Ask>
  bool of(SumId a, SumId b, const Ask& ask) {
    const std::uint64_t key = std::uint64_t{a} << 33 | std::uint64_t{b} << 1;
    std::size_t place = start(key);
    for (; table_[place] != 0; place = (place + 1) & (table_.size() - 1)) {
      if ((table_[place] & ~std::uint64_t{1}) == key) return (table_[place] & 1U) != 0;
    }
    const bool answer = ask();
    table_[place] = key | (answer ? 1U : 0U);
    if (++used_ * 2 > table_.size()) grow();
    return answer;
  }
  std::size_t bytes() const { return table_.size() * sizeof(std::uint64_t); }

 private:
  std::size_t start(std::uint64_t key) const {
    key = (key >> 1) * 0x9e3779b97f4a7c15ULL;
    return (key ^ key >> 32) & (table_.size() - 1);
  }
  void grow();
  std::vector<std::uint64_t> table_;
  std::size_t used_ = 0;
};

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
  };
  Pareto(Recursion& recursion, Sums& sums, Dominance& dominance, int max_memory_depth);

  /// The front of a state; stays valid.
  std::span<const Entry> of(StateId id, Watch& watch);

  /// Adds a root's front to the front of all roots.
  void add_root(StateId id, Watch& watch);
  const std::vector<Entry>& roots() const { return roots_.entries; }

  /// Combinations refused or driven out so far, over all states.
  std::uint64_t dropped() const { return dropped_; }
  std::size_t folded() const { return folded_; }
  std::size_t bytes() const;

 private:
  /// Classes with what they cost: per class `width_` values, the objectives one after the other, each at
  /// every sample.
  struct Valued {
    std::vector<Entry> entries;
    std::vector<double> values;
    std::vector<double> elements;  ///< memory at the first sample, free temporaries included: decides ties
    void clear();
  };
  /// Two classes side by side, not yet added up.
  struct Pair {
    Entry first, second;
    double elements;
  };

  void linear(StateId id, Valued& front);
  void fuse(StateId id, const Transition& t, Valued& front, Watch& watch);
  void join(StateId id, const Join& join, Valued& front, Watch& watch);
  /// Every class of one side with every class of the other.
  void combine(const Valued& first, const Valued& second, Valued& front, Watch& watch);
  void offer(Valued& front, const Pair& pair, const double* values);
  void append(Valued& list, Entry entry);
  bool covered(const Entry& winner, const Entry& loser);
  SumId costly(SumId memory);

  const std::vector<double>& time_values(cost::Term term);
  const std::vector<double>& memory_values(cost::Term term);

  Recursion& recursion_;
  Sums& sums_;
  Dominance& dominance_;
  std::size_t samples_, width_;
  int max_memory_depth_;
  std::uint64_t dropped_ = 0;
  std::size_t folded_ = 0;
  Valued roots_;
  struct Front {
    const Entry* entries = nullptr;
    std::uint32_t count = 0;
    bool done = false;
  };
  std::vector<Front> known_;
  Arena<Entry> kept_;
  std::unordered_map<cost::Term, std::vector<double>> time_values_, memory_values_;
  PairAnswers time_proofs_, memory_proofs_;
  std::vector<SumId> costly_;
  std::vector<double> sum_;
  Valued first_, second_;
};

}  // namespace schaas::space

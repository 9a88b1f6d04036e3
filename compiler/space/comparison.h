#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/space/arena.h"
#include "compiler/space/class_list.h"
#include "compiler/space/space.h"
#include "compiler/space/sums.h"

/// Criteria between two cost classes: the objectives, their values at samples, and proofs.
namespace schaas::space {

/// A sum that a class should have small: of its time terms or of its memory terms, those with all bits of
/// `only`.
struct Objective {
  enum class Of { time, memory } of = Of::time;
  cost::Term only = 0;
};
/// Memory first: its proofs are the cheaper ones.
constexpr Objective objectives[] = {
    {Objective::Of::memory}, {Objective::Of::time, cost::serial_bit}, {Objective::Of::time}};

/// Answers by pair of sums, each stored in one word.
class PairAnswers {
 public:
  PairAnswers() : table_(1024, 0) {}
  /// The stored answer, or `ask()`, stored.
  template <class Ask>
  bool of(SumId a, SumId b, const Ask& ask) {
    const std::uint64_t key = std::uint64_t{a} << 33 | std::uint64_t{b} << 1;
    std::size_t position = start(key);
    for (; table_[position] != 0; position = (position + 1) & (table_.size() - 1)) {
      if ((table_[position] & ~std::uint64_t{1}) == key) return (table_[position] & 1U) != 0;
    }
    const bool answer = ask();
    table_[position] = key | (answer ? 1U : 0U);
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

/// Values of terms, found once.
class TermValues {
 public:
  TermValues() : keys_(256), values_(256, nullptr) {}
  /// `find(term)`: a vector of doubles, always of one length.
  template <class Find>
  const double* of(cost::Term term, const Find& find) {
    std::size_t position = start(term);
    for (; values_[position] != nullptr; position = (position + 1) & (keys_.size() - 1)) {
      if (keys_[position] == term) return values_[position];
    }
    const std::vector<double> found = find(term);
    const double* kept = pool_.keep(found).data();
    keys_[position] = term;
    values_[position] = kept;
    if (++used_ * 2 > keys_.size()) grow();
    return kept;
  }

 private:
  std::size_t start(cost::Term term) const {
    term *= 0x9e3779b97f4a7c15ULL;
    return (term ^ term >> 32) & (keys_.size() - 1);
  }
  void grow();
  std::vector<cost::Term> keys_;
  std::vector<const double*> values_;
  Arena<double> pool_;
  std::size_t used_ = 0;
};

/// Compares classes under one Dominance. Not thread-safe: one per thread.
///
/// Proofs are made and remembered in a normal form, without the terms that both sums have and the variables
/// that all remaining terms have. So one proof serves below every prefix of loops.
class Comparison {
 public:
  using Terms = std::span<const cost::Term>;
  explicit Comparison(Dominance& dominance);

  /// Values of a class: all samples of the first objective, then of the second, ...
  std::size_t width() const { return width_; }
  /// Adds up a class's values (width of them) and the elements of its temporaries, free ones included.
  void evaluate(Terms time, Terms memory, double* values, double& elements);
  /// True when no value of a is above its like of b.
  bool no_worse(const double* a, const double* b) const;
  /// Proven: every objective of the winner is at most the loser's, at every size.
  bool covers(Terms winner_time, Terms winner_memory, Terms loser_time, Terms loser_memory);

  std::size_t bytes() const { return sums_.bytes() + proofs_[0].bytes() + proofs_[1].bytes(); }

 private:
  bool at_most(const Objective& objective, Terms winner, Terms loser);
  const double* values_of(const Objective& objective, cost::Term term);
  bool counts(const Objective& objective, cost::Term term);

  Dominance& dominance_;
  std::size_t samples_, width_;
  TermValues values_[2];  ///< by Objective::Of
  PairAnswers proofs_[2];
  Sums sums_;  ///< normal forms
  std::vector<cost::Term> less_, more_;
};

}  // namespace schaas::space

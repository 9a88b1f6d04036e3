#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/cost/cost.h"

namespace schaas::space {

using SumId = std::uint32_t;

/// Sorted multisets of terms, each stored once: equal sums have equal numbers. The empty sum is number 0.
class Sums {
 public:
  Sums();
  /// Valid until the next sum is added.
  std::span<const cost::Term> at(SumId id) const {
    return {pool_.data() + starts_[id], pool_.data() + starts_[id + 1]};
  }
  SumId intern(std::span<const cost::Term> sorted);
  SumId single(cost::Term term) { return intern({&term, 1}); }
  /// Every term times `factor`, whose variables occur in none of them.
  SumId times(SumId id, cost::Term factor);
  SumId plus(SumId a, SumId b);
  /// The sum and one more term; 0: none.
  SumId with(SumId id, cost::Term term) { return term == 0 ? id : plus(id, single(term)); }
  std::size_t size() const { return starts_.size() - 1; }
  std::size_t bytes() const {
    return pool_.capacity() * sizeof(cost::Term) +
           starts_.capacity() * (sizeof(std::size_t) + sizeof(std::uint64_t)) + table_.size() * sizeof(SumId);
  }

 private:
  void grow();
  std::uint64_t hash(std::span<const cost::Term> terms) const;

  std::vector<cost::Term> pool_;
  std::vector<std::size_t> starts_{0};
  std::vector<std::uint64_t> hashes_;
  std::vector<SumId> table_;  ///< open addressing; id + 1, 0 when empty
  std::vector<cost::Term> scratch_;
};

}  // namespace schaas::space

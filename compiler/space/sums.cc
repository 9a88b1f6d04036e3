#include "compiler/space/sums.h"

#include <algorithm>

// Sorted multisets of terms, hash-consed in one pool: equal sums have equal numbers, which stand for them in
// tables and comparisons.
namespace schaas::space {

Sums::Sums() : table_(1024, 0) { intern({}); }

std::uint64_t Sums::hash(std::span<const cost::Term> terms) const {
  std::uint64_t value = terms.size();
  for (cost::Term term : terms) {
    value ^= term;
    value *= 0x9e3779b97f4a7c15ULL;
    value ^= value >> 29;
  }
  return value ^ (value >> 32);
}

SumId Sums::intern(std::span<const cost::Term> sorted) {
  const std::uint64_t value = hash(sorted);
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = value & mask;
  while (table_[slot] != 0) {
    const SumId id = table_[slot] - 1;
    const auto known = at(id);
    if (hashes_[id] == value && std::equal(known.begin(), known.end(), sorted.begin(), sorted.end()))
      return id;
    slot = (slot + 1) & mask;
  }
  const auto id = static_cast<SumId>(hashes_.size());
  pool_.insert(pool_.end(), sorted.begin(), sorted.end());
  starts_.push_back(pool_.size());
  hashes_.push_back(value);
  table_[slot] = id + 1;
  if (hashes_.size() * 2 > table_.size()) grow();
  return id;
}

void Sums::grow() {
  table_.assign(table_.size() * 2, 0);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t id = 0; id < hashes_.size(); ++id) {
    std::size_t slot = hashes_[id] & mask;
    while (table_[slot] != 0) slot = (slot + 1) & mask;
    table_[slot] = static_cast<SumId>(id) + 1;
  }
}

/// A common factor keeps the terms sorted: it sets the same bits, clear before, in each.
SumId Sums::times(SumId id, cost::Term factor) {
  if (factor == 0) return id;
  scratch_.clear();
  for (cost::Term term : at(id)) scratch_.push_back(term | factor);
  return intern(scratch_);
}

SumId Sums::plus(SumId a, SumId b) {
  if (a == 0) return b;
  if (b == 0) return a;
  const auto first = at(a);
  const auto second = at(b);
  // Merged outside of the pool, which interning may move.
  scratch_.resize(first.size() + second.size());
  std::merge(first.begin(), first.end(), second.begin(), second.end(), scratch_.begin());
  return intern(scratch_);
}

}  // namespace schaas::space

#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// Entries in storage order: sorted by the coordinate of level 0, then level 1, ... Duplicates are
/// neighbours, in their original order.
///
/// Coordinates of an entry that fit together in 64 bits (the usual case) are one key. The sort is then a
/// radix sort of (key, value). Otherwise the coordinates stay where they are and a permutation is sorted by
/// comparing.
class SortedEntries {
 public:
  SortedEntries(const CooTensor& tensor, const std::vector<int>& mode_order);

  std::size_t size() const { return size_; }
  /// Coordinate of entry e at storage level l.
  std::int64_t coordinate(int level, std::size_t e) const {
    return keyed_ ? static_cast<std::int64_t>((keys_[e].key >> shift_[level]) & mask_[level])
                  : (*by_level_[level])[permutation_[e]];
  }
  double value(std::size_t e) const { return std::bit_cast<double>(bits(e)); }
  /// The value of an entry of a tensor that has no integers.
  std::complex<double> complex_value(std::size_t e) const {
    return is_complex(tensor_->value_type) ? tensor_->complex_at(bits(e)) : value(e);
  }
  /// The value of an entry of an integer tensor.
  std::int64_t integer(std::size_t e) const { return std::bit_cast<std::int64_t>(bits(e)); }

  /// Puts entry order[n] in place n.
  void reorder(const std::vector<std::size_t>& order);

  struct Keyed {
    std::uint64_t key;
    std::uint64_t bits;  ///< the value's; of a complex type the number of the entry
  };

 private:
  void sort_keys(const CooTensor& tensor, const std::vector<int>& mode_order, int bits);
  void sort_permutation();
  std::uint64_t bits(std::size_t e) const { return keyed_ ? keys_[e].bits : bits_of(permutation_[e]); }
  std::uint64_t bits_of(std::size_t entry) const {
    if (is_complex(tensor_->value_type)) return entry;
    return is_integer(tensor_->value_type) ? std::bit_cast<std::uint64_t>(tensor_->integers[entry])
                                           : std::bit_cast<std::uint64_t>(tensor_->values[entry]);
  }

  std::size_t size_ = 0;
  bool keyed_ = true;
  std::vector<int> shift_;
  std::vector<std::uint64_t> mask_;
  std::vector<Keyed> keys_;
  std::vector<const std::vector<std::int64_t>*> by_level_;
  const CooTensor* tensor_ = nullptr;
  std::vector<std::size_t> permutation_;
};

/// Bits that coordinates below `extent` need.
int bits_for(std::int64_t extent);

}  // namespace schaas::client

#include "client/cpp/tensor/sort_entries.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "client/cpp/platform/team.h"
#include "schaas/host.h"

// Sorting of entries in storage order. The coordinates of an entry are concatenated to one key, the outermost
// level in the highest bits, where they fit in 64 bits. Keys are sorted by a radix sort from the least
// significant digit (D. E. Knuth, The Art of Computer Programming 3, section 5.2.5). It is stable, so
// duplicates stay in their order, and their sum does not depend on the method. Wider coordinates are compared
// one by one, by a stable sort of a permutation.
namespace schaas::client {
namespace {

using Keyed = SortedEntries::Keyed;
constexpr std::int64_t min_sorted_by_team = 100'000;
// 2048 counters of 8 bytes lie in L1; 64 bits take six passes.
constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;

bool ascending(const std::vector<Keyed>& keys) {
  return std::is_sorted(keys.begin(), keys.end(),
                        [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

// Runs one stable pass of a radix sort. Returns false when every key has the same digit: nothing was moved,
// and the pass is skipped.
bool radix_pass(const std::vector<Keyed>& from, std::vector<Keyed>& to, int shift) {
  std::vector<std::size_t> offset(digits, 0);
  for (const Keyed& k : from) ++offset[(k.key >> shift) & (digits - 1)];
  if (std::find(offset.begin(), offset.end(), from.size()) != offset.end()) return false;
  std::exclusive_scan(offset.begin(), offset.end(), offset.begin(), std::size_t{0});
  for (const Keyed& k : from) to[offset[(k.key >> shift) & (digits - 1)]++] = k;
  return true;
}

void radix_sort(std::vector<Keyed>& keys, int bits) {
  std::vector<Keyed> other(keys.size());
  for (int shift = 0; shift < bits; shift += digit_bits) {
    if (radix_pass(keys, other, shift)) keys.swap(other);
  }
}

}  // namespace

int bits_for(std::int64_t extent) {
  return extent <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(extent - 1)));
}

// `tensor_` and `by_level_` point to the tensor, which must outlive the sorted entries.
SortedEntries::SortedEntries(const CooTensor& tensor, const std::vector<int>& mode_order)
    : size_(tensor.entries()), tensor_(&tensor) {
  int bits = 0;
  for (const int mode : mode_order) {
    by_level_.push_back(&tensor.coordinates[mode]);
    bits += bits_for(tensor.extents[mode]);
  }
  keyed_ = bits <= 64;
  if (keyed_) {
    sort_keys(tensor, mode_order, bits);
  } else {
    sort_permutation();
  }
}

void SortedEntries::sort_keys(const CooTensor& tensor, const std::vector<int>& mode_order, int bits) {
  int below = bits;
  for (const int mode : mode_order) {
    const int width = bits_for(tensor.extents[mode]);
    below -= width;
    shift_.push_back(
        width == 0 ? 0 : below);  // a shift by 64 is undefined; without bits the mask is empty anyway
    mask_.push_back(width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1);
  }
  keys_.resize(size_);
  const auto count = static_cast<std::int64_t>(size_);
  in_ranges(count, count > min_sorted_by_team ? host_threads() : 1,
            [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t e = begin; e < end; ++e) {
                std::uint64_t key = 0;
                for (std::size_t l = 0; l < by_level_.size(); ++l) {
                  key |= static_cast<std::uint64_t>((*by_level_[l])[e]) << shift_[l];
                }
                keys_[e] = {key, bits_of(static_cast<std::size_t>(e))};
              }
            });
  // Sorted entries need no pass; the look at each key costs less than one.
  if (!ascending(keys_)) radix_sort(keys_, bits);
}

// Both forms keep entry n of the new order at index n.
void SortedEntries::reorder(const std::vector<std::size_t>& order) {
  if (keyed_) {
    std::vector<Keyed> keys(size_);
    for (std::size_t n = 0; n < size_; ++n) keys[n] = keys_[order[n]];
    keys_ = std::move(keys);
  } else {
    std::vector<std::size_t> permutation(size_);
    for (std::size_t n = 0; n < size_; ++n) permutation[n] = permutation_[order[n]];
    permutation_ = std::move(permutation);
  }
}

void SortedEntries::sort_permutation() {
  permutation_.resize(size_);
  std::iota(permutation_.begin(), permutation_.end(), std::size_t{0});
  std::stable_sort(permutation_.begin(), permutation_.end(), [this](std::size_t a, std::size_t b) {
    for (const auto* coordinates : by_level_) {
      if ((*coordinates)[a] != (*coordinates)[b]) return (*coordinates)[a] < (*coordinates)[b];
    }
    return false;
  });
}

}  // namespace schaas::client

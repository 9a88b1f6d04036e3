#include "client/cpp/oracle/sparse_lookup.h"

#include <bit>

namespace schaas::client {

SparseLookup::SparseLookup(const CooTensor& tensor) : tensor_(&tensor) {
  slots_.assign(std::bit_ceil(2 * tensor.entries() + 2), 0);
  sums_.assign(tensor.entries(), 0);
  std::vector<std::int64_t> coordinates(tensor.order());
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    for (int m = 0; m < tensor.order(); ++m) coordinates[m] = tensor.coordinates[m][e];
    const std::size_t slot = slot_of(coordinates);
    if (slots_[slot] == 0) slots_[slot] = static_cast<std::int64_t>(e) + 1;
    sums_[slots_[slot] - 1] += tensor.values[e];
  }
}

std::optional<double> SparseLookup::find(const std::vector<std::int64_t>& coordinates) const {
  const std::int64_t found = slots_[slot_of(coordinates)];
  if (found == 0) return std::nullopt;
  return sums_[found - 1];
}

std::size_t SparseLookup::slot_of(const std::vector<std::int64_t>& coordinates) const {
  std::uint64_t hash = 0;
  for (const std::int64_t c : coordinates) {
    hash = (hash ^ static_cast<std::uint64_t>(c)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0 && !same(slots_[slot] - 1, coordinates)) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

bool SparseLookup::same(std::size_t entry, const std::vector<std::int64_t>& coordinates) const {
  for (std::size_t m = 0; m < coordinates.size(); ++m) {
    if (tensor_->coordinates[m][entry] != coordinates[m]) return false;
  }
  return true;
}

}  // namespace schaas::client

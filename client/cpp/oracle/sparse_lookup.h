#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// Entries of a sparse tensor by coordinates, duplicates added up. Built once, then read by any number of
/// threads.
class SparseLookup {
 public:
  explicit SparseLookup(const CooTensor& tensor);
  /// The value at these coordinates (by mode), nothing where none is stored.
  std::optional<double> find(const std::vector<std::int64_t>& coordinates) const;

 private:
  std::size_t slot_of(const std::vector<std::int64_t>& coordinates) const;
  bool same(std::size_t entry, const std::vector<std::int64_t>& coordinates) const;

  const CooTensor* tensor_;
  std::vector<std::int64_t>
      slots_;  ///< first entry with these coordinates + 1; 0: free. Open addressing, power of two
  std::vector<double> sums_;  ///< by first entry
};

}  // namespace schaas::client

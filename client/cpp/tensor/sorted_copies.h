#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/cpp/platform/process_mutex.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Sorted copies of the tensors of earlier calls. A loop that passes the same tensor in disorder again and
/// again has it sorted once. Thread-safe.
class SortedCopies {
 public:
  /// `max_bytes`: of all copies that are kept, with the arrays that they were made of.
  explicit SortedCopies(std::size_t max_bytes) : max_bytes_(max_bytes) {}
  ~SortedCopies();
  SortedCopies(const SortedCopies&) = delete;
  SortedCopies& operator=(const SortedCopies&) = delete;

  /// The sorted copy of a tensor that sorted_copy takes. It is an earlier one where that tensor had the same
  /// format and extents and the same bytes in every array. Errors: those of sorted_copy.
  support::Result<std::shared_ptr<const PackedTensor>> of(const PackedTensor& tensor,
                                                          const std::string& name);
  std::size_t bytes() const;  ///< kept

 private:
  struct Kept;
  std::shared_ptr<const Kept> find(std::uint64_t hash, const PackedTensor& tensor) const;
  /// Notes the hash of a tensor that is sorted; true when one of it was sorted lately.
  bool came_before(std::uint64_t hash);
  void keep(std::shared_ptr<const Kept> one);

  const std::size_t max_bytes_;
  mutable ProcessMutex mutex_;
  mutable std::vector<std::shared_ptr<const Kept>> kept_;  ///< the one used last is the last
  std::vector<std::uint64_t> hashes_;                      ///< tensors sorted last
};

/// Those of the process: a 32nd of the machine's memory, 512 MiB at most. They live as long as the process.
SortedCopies& sorted_copies();

}  // namespace schaas::client

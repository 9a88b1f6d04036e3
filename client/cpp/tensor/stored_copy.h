#pragma once
#include <cstdint>

#include "schaas/convert.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// A copy of a tensor in another storage, for runs whose values change and whose entries stay. Operands are
/// copied before runs, results after them. The structure is made once; each refresh() gathers the current
/// values through a list of positions in the original. A slot that the original's dense levels store is kept
/// whatever it holds, so every value may change. The original must outlive it and keep its shape and entries.
class StoredCopy {
 public:
  /// Errors: those of convert().
  static support::Result<StoredCopy> make(const PackedTensor& original, const format::TensorFormat& format,
                                          const ConvertOptions& options);
  /// One of so many parts; all parts together bring every value.
  void refresh(int part, int parts);
  /// Moves the arrays before pages that nobody may touch (Buffer::guarded).
  void guard();

  const PackedTensor& tensor() const { return copy_; }
  PackedTensor& tensor() { return copy_; }
  std::int64_t bytes() const;  ///< with the list of positions

 private:
  StoredCopy(const PackedTensor& original, PackedTensor copy, Buffer positions)
      : original_(&original), copy_(std::move(copy)), positions_(std::move(positions)) {}
  template <class Value>
  void bring(std::int64_t begin, std::int64_t end);

  const PackedTensor* original_;
  PackedTensor copy_;
  Buffer positions_;  ///< int64 by position of the copy: the position in the original, or -1: its fill value
};

}  // namespace schaas::client

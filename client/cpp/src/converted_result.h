#pragma once
#include <optional>
#include <string>
#include <utility>

#include "compiler/format/tensor_format.h"
#include "schaas/tensor.h"
#include "stored_copy.h"

namespace schaas::client {

/// A result in the storage that was asked for, where kernels write it in another one (format::written_as).
/// The first run converts; from the second on it is known where each value goes, for entries stay what they
/// are.
class ConvertedResult {
 public:
  /// `place`: where the caller wants it; null: in a tensor of its own. `name` is for messages.
  ConvertedResult(format::TensorFormat format, std::string name, PackedTensor* place)
      : format_(std::move(format)), name_(std::move(name)), place_(place) {}

  /// After a run. `written` stays where it is and keeps its entries. Errors: those of convert().
  support::Result<void> bring(const PackedTensor& written, int threads);
  /// What the last bring() made.
  PackedTensor& tensor();

 private:
  format::TensorFormat format_;
  std::string name_;
  PackedTensor* place_;
  PackedTensor first_;
  const void* values_ = nullptr;  ///< of the last bring(): others mean that somebody took the tensor
  std::optional<StoredCopy> again_;
};

}  // namespace schaas::client

#pragma once
#include <optional>
#include <string>
#include <utility>

#include "client/cpp/tensor/stored_copy.h"
#include "compiler/format/tensor_format.h"
#include "schaas/kernel_set.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// A result that a kernel writes elsewhere than the caller wants it: in another storage
/// (format::assembled_format), or apart because an operand overlaps its memory. In another storage the first
/// run converts. Later runs know the target of each value, for entries stay as they are.
class ConvertedResult {
 public:
  /// `target`: where the caller wants it; null: in a tensor of its own. `name` is for messages. `gpu`: on
  /// which `target` lies, if it lies on one.
  ConvertedResult(format::TensorFormat format, std::string name, PackedTensor* target,
                  std::optional<GpuUse> gpu = {})
      : format_(std::move(format)), name_(std::move(name)), target_(target), gpu_(std::move(gpu)) {}

  /// After a run. `written` stays where it is and keeps its entries. Errors: those of convert() and
  /// Gpu::copy_values.
  support::Result<void> bring(const PackedTensor& written, int threads);
  /// Returns the tensor of the last bring().
  PackedTensor& tensor();

 private:
  support::Result<void> copy_values(const PackedTensor& written);
  format::TensorFormat format_;
  std::string name_;
  PackedTensor* target_;
  std::optional<GpuUse> gpu_;
  PackedTensor first_;
  const void* values_ = nullptr;  ///< values of the last bring(); others mean that the caller took the tensor
  std::optional<StoredCopy> again_;
};

}  // namespace schaas::client

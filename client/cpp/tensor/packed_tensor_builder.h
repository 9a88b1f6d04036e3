#pragma once
#include <functional>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// The parts of a PackedTensor under construction.
struct PackedTensorBuilder {
  format::TensorFormat format;  ///< its type of values is left out
  std::vector<std::int64_t> extents;
  ValueType value_type = ValueType::f64;
  int position_bits = 64;
  double fill_value = 0;
  std::vector<PackedTensor::Level> levels{};
  Buffer values{};
  bool on_device = false;

  PackedTensor finish() &&;
  /// A finished tensor taken apart again.
  static PackedTensorBuilder of(PackedTensor tensor);
};

/// The same tensor with other arrays: `of_levels(array)` for its positions and coordinates,
/// `of_values(array)`.
PackedTensor with_arrays(const PackedTensor& tensor, const std::function<Buffer(const Buffer&)>& of_levels,
                         const std::function<Buffer(const Buffer&)>& of_values);
/// The same tensor, its arrays before pages that nobody may touch (Buffer::guarded).
PackedTensor guarded(const PackedTensor& tensor);

/// SCHAAS_LEVEL_* of a level.
std::int32_t abi_number(format::LevelFormat level);
/// Width of its positions and coordinates in `schaas_level`.
std::int32_t index_bits(format::LevelFormat level, int position_bits);

}  // namespace schaas::client

#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// The arrays of a result whose structure a kernel decides (proto/kernel_abi.h).
class ResultStorage {
 public:
  /// Gives `result` room for counts[c] entries at its c-th compressed level. All positions are 0 but the last
  /// one of a level, which is its count; arrays that have the right size keep their address and their
  /// contents, others hold anything. `name` is for messages. Errors: invalid [position-overflow], exhausted
  /// [memory]; `result` is as it was then.
  static support::Result<void> resize(PackedTensor& result, const std::vector<std::int64_t>& counts,
                                      const std::string& name);
  /// Gives `result` the levels of `other`, which has its extents, format and position width; its values are
  /// not set. Errors: exhausted [memory].
  static support::Result<void> take_entries(PackedTensor& result, const PackedTensor& other,
                                            const std::string& name);
  /// Gives `result` the levels and the values of `other`, whose extents, format and types by level are its
  /// own.
  static void give_entries(PackedTensor& result, PackedTensor other);
  /// Takes the coordinates and values of a result whose second level is compressed, for others to fill, and
  /// gives its positions their length. Errors: exhausted [memory].
  static support::Result<void> take_rows(PackedTensor& result, Buffer& coordinates, Buffer& values,
                                         const std::string& name);
  /// And back, with `entries` coordinates.
  static void give_rows(PackedTensor& result, Buffer coordinates, Buffer values, std::int64_t entries);
  /// No entries in compressed levels; keeps what the positions need.
  static support::Result<void> clear(PackedTensor& result, const std::string& name);
  static void set_fill_value(PackedTensor& result, double value) { result.fill_value_ = value; }
  /// Levels with positions of their own: all sparse ones but singletons.
  static int compressed_levels(const format::TensorFormat& format);
};

/// Elements [begin, end) of an array of values become `value`.
void fill_values(void* values, ValueType type, std::int64_t begin, std::int64_t end, double value);

}  // namespace schaas::client

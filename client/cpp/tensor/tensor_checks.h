#pragma once
#include <string>

#include "schaas/tensor.h"

namespace schaas::client {

double rounded(double value, ValueType type);  ///< as a tensor of that type holds it

constexpr int max_order = 64;  ///< order of a tensor; expressions have fewer indices

/// Shape of the lists, extents not negative, every coordinate inside. Errors: invalid [coordinate-range]
/// naming the first offending entry, [tensor-structure].
support::Result<void> check_entries(const CooTensor& tensor, const std::string& name);
/// invalid [format-rank] when the format has another number of levels.
support::Result<void> check_format(int order, const format::TensorFormat& format, const std::string& name);
/// Checks that a sparse level (counted from 0) of that extent and number of entries can have positions and
/// coordinates of that width: invalid [position-overflow], which says that 64 bits would do.
support::Result<void> check_positions_fit(int bits, std::int64_t extent, std::int64_t entries, int level,
                                          const std::string& name);
/// "(3, 4)", "(5,)", "()": as Python writes a shape.
std::string tuple_text(const std::vector<std::int64_t>& extents);
/// "3x4x5"; "scalar" for no modes; "?" for an unknown (negative) extent.
std::string shape_text(const std::vector<std::int64_t>& extents);

}  // namespace schaas::client

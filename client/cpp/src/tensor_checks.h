#pragma once
#include <string>

#include "schaas/tensor.h"

namespace schaas::client {

/// Shape of the lists, extents not negative, every coordinate inside. Errors: invalid [coordinate-range]
/// naming the first offending entry, [tensor-structure].
support::Result<void> check_entries(const CooTensor& tensor, const std::string& name);
/// invalid [format-rank] when the format has another number of levels.
support::Result<void> check_format(int order, const format::TensorFormat& format, const std::string& name);
/// "3x4x5"; "scalar" for no modes; "?" for an unknown (negative) extent.
std::string shape_text(const std::vector<std::int64_t>& extents);

}  // namespace schaas::client

#pragma once
#include <cstdint>

#include "schaas/tensor.h"

namespace schaas::client {

/// Tells whether neighbouring coordinates of the mode that is stored first lie together in the arrays of a
/// tensor. The first level is dense then. Those below are dense, compressed or singleton, and in order.
bool has_parts(const format::TensorFormat& format);

/// The format of a tensor without the mode that is stored first.
format::TensorFormat without_first_mode(const format::TensorFormat& format);

/// The part of a tensor at coordinates begin, ..., begin + count - 1 of the mode that is stored first. It
/// reads the tensor's arrays, which must stay where they are. Positions alone are copied, counted from the
/// part's first entry. `is_fixed`: without that mode; count is 1. Needs has_parts(); all levels of a tensor
/// on a device are dense. Throws std::bad_alloc when there is no memory for the positions.
PackedTensor part_of(const PackedTensor& tensor, std::int64_t begin, std::int64_t count, bool is_fixed);

}  // namespace schaas::client

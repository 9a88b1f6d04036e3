#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "schaas/tensor.h"

namespace schaas::client {

/// Value number `linear` of the stream (seed, tensor name): uniform in [-1, 1), a multiple of 2^-23, so that
/// f64 and f32 tensors hold the same numbers. A pure function, the same on every machine.
double fill_value(std::uint64_t seed, const std::string& name, std::uint64_t linear);

/// A dense tensor of fill_value(seed, name, row-major index), or of an integer type of floor(16 times that):
/// -16 to 15. Errors: exhausted [memory].
support::Result<DenseTensor> fill(const std::string& name, std::vector<std::int64_t> extents,
                                  std::uint64_t seed, ValueType type);

/// Returns a sparse tensor with entries at coordinates drawn uniformly from (seed, tensor name). There is one
/// draw for every ten elements, at least one and at most a million. Coordinates drawn twice are one entry, so
/// the density is a little below a tenth (a twentieth of the draws fall together). Sorted; values are
/// fill_value's, by entry, or those of fill for an integer type. Errors: exhausted [memory].
support::Result<CooTensor> fill_sparse(const std::string& name, std::vector<std::int64_t> extents,
                                       std::uint64_t seed, ValueType type = ValueType::f64);

}  // namespace schaas::client

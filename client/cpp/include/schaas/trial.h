#pragma once
#include <cstdint>
#include <string>

#include "schaas/kernel.h"

/// Admission: a kernel is tried on small random tensors before anybody is served with it.
namespace schaas::client {

struct Trial {
  int runs = 0;           ///< executions compared with the oracle
  std::string not_tried;  ///< why some or all shapes were left out: "" when all were tried
};

/// Runs the kernel on small tensors of many shapes, by one thread and by several, twice each, and compares
/// every result with the oracle. Shapes are full, empty, ragged, and of extents 0 and 1. Each index in turn
/// is long enough for every width of vector code, and dense tensors have the extents for which kernels are
/// specialised. Operands lie before pages that must not be touched. An extent that the constraints of the
/// problem fix keeps its value. Shapes that would then need a tensor of more than four million elements are
/// left out. The same for the same seed. May be ended by a signal when the kernel is wrong: to be called in a
/// process made for it. Errors: internal [kernel-wrong] (the shape, the error and the tolerance),
/// [kernel-failed]; invalid [kernel-problem]; those of Execution::prepare and the oracle.
support::Result<Trial> try_kernel(const Kernel& kernel, std::uint64_t seed);

}  // namespace schaas::client

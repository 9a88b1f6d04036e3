#pragma once
#include <cstdint>

#include "schaas/tensor.h"

namespace schaas::client {

/// Smaller results are never stored past the caches.
inline constexpr std::int64_t least_streamed_bytes = std::int64_t{16} << 20;

/// Whether a kernel is to store the values of `result` past the caches (proto/kernel_abi.h): its rows are
/// whole cache lines, and it is so large that writing it and reading it once takes less time that way on this
/// host. That is measured, in some 20 ms, when the process has the first result that large. Any thread.
bool streams(const PackedTensor& result);

}  // namespace schaas::client

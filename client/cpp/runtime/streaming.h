#pragma once
#include <cstdint>

#include "schaas/tensor.h"

namespace schaas::client {

/// Smaller results are never written with streaming stores.
inline constexpr std::int64_t min_streamed_bytes = std::int64_t{16} << 20;

/// The kernel is to write the values of `result` with streaming (non-temporal) stores (proto/kernel_abi.h).
/// Rows must be whole cache lines, and the result so large that writing and reading it once is faster that
/// way on this host. The host is measured, in some 20 ms, at the first result that large. Any thread.
bool streams(const PackedTensor& result);

}  // namespace schaas::client

/// PREFETCH leaves out vectors of a cache line that an earlier one has prefetched.
#pragma once
#include "abi.h"
#include "vector.h"
#define LARGE_BYTES (3 << 20)
#define PREFETCH(n, p) do { if ((n) * VECTOR_BYTES % 64 == 0) __builtin_prefetch(p); } while (0)
UNUSED static inline int is_large(const schaas_tensor* tensor) {
  int64_t bytes = sizeof(value), row = bytes;
  for (int32_t mode = 0; mode < tensor->order; ++mode) row = sizeof(value) * tensor->extents[mode], bytes *= tensor->extents[mode];
  return bytes > (row > 256 ? 4 * LARGE_BYTES : LARGE_BYTES);
}

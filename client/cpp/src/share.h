#pragma once
#include <algorithm>
#include <cstdint>

namespace schaas::client {

/// Where a thread's share of `size` things begins, which come `line` to a cache line.
inline std::int64_t share(std::int64_t size, std::int64_t line, int thread, int team) {
  return std::min(size, (size + line - 1) / line * thread / team * line);
}

}  // namespace schaas::client

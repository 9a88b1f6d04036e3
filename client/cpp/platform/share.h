#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "schaas/buffer.h"

namespace schaas::client {

/// Returns the beginning of a thread's share of `size` elements, `line` of which fill a cache line.
inline std::int64_t share(std::int64_t size, std::int64_t line, int thread, int team) {
  return std::min(size, (size + line - 1) / line * thread / team * line);
}

/// A thread's share of the buffer.
inline void zero_share(Buffer& buffer, int thread, int team) {
  const auto bytes = static_cast<std::int64_t>(buffer.bytes());
  const std::int64_t begin = share(bytes, 64, thread, team), end = share(bytes, 64, thread + 1, team);
  if (begin < end) std::memset(buffer.as<char>() + begin, 0, static_cast<std::size_t>(end - begin));
}

}  // namespace schaas::client

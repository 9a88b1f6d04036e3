#pragma once
#include <cstdint>
#include <string>

namespace schaas::client {

/// Rounded up.
inline std::string mib(std::int64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

}  // namespace schaas::client

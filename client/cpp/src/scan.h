#pragma once
#include <cstdint>

namespace schaas::client {

/// Replaces each of counts[0..size) by the sum of those before it and sets counts[size] to the sum of all,
/// which is returned. On `threads` threads when there is enough to do.
std::int64_t exclusive_scan(std::int64_t* counts, std::int64_t size, int threads);

}  // namespace schaas::client

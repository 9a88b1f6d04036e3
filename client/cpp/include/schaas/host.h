#pragma once
#include <cstdint>
#include <string>

namespace schaas::client {

/// The best instruction set that kernels come in and this processor runs: "x86-64-v4", "x86-64-v3",
/// "x86-64-v2", else "generic".
std::string host_isa();
/// Whether this processor runs code compiled for `isa`. "native" is compiled only when asked for by name, by
/// a server on the same machine: true.
bool host_runs(const std::string& isa);
/// Size of the last-level cache in bytes; 32 MiB when the system does not tell.
std::int64_t last_level_cache_bytes();
/// Size of one core's data cache of the first level, and of its second level; 32 KiB and 1 MiB when the
/// system does not tell.
std::int64_t first_cache_bytes();
std::int64_t second_cache_bytes();
/// Processors this process may use (affinity respected).
int host_threads();

}  // namespace schaas::client

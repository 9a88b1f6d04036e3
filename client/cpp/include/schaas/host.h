#pragma once
#include <cstdint>
#include <string>

namespace schaas::client {

/// The best instruction set that kernels come in and this processor runs: "x86-64-v4", "x86-64-v3",
/// "x86-64-v2", else "generic".
std::string host_isa();
/// Returns the instruction set to ask for: "" is host_isa(), "native" this very processor
/// ("native:1a2b3c4d").
std::string isa_for(const std::string& asked);
/// This processor runs code compiled for `isa`.
bool host_runs(const std::string& isa);
/// Size of the last-level cache in bytes that a core has a share of, not of all in a package; 32 MiB when the
/// system does not tell.
std::int64_t last_level_cache_bytes();
/// Size of one core's data cache of the first level, and of its second level; 32 KiB and 1 MiB when the
/// system does not tell.
std::int64_t first_cache_bytes();
std::int64_t second_cache_bytes();
/// Main memory in bytes; 8 GiB when the system does not tell.
std::int64_t main_memory_bytes();
/// Returns the size of the data or unified cache of this level that Linux describes in the folder
/// (".../cpu0/cache"); 0: none.
std::int64_t described_cache_bytes(const std::string& caches, int level);
/// Returns the part of the last-level caches of an AMD package that one core may use: 32 MiB at most, the L3
/// of a core complex since Zen 2. `bytes` is the sum, which is all that the C library reports where Linux
/// describes none, as on virtual machines that hide caches.
std::int64_t share_of_package(std::int64_t bytes);
/// Processors this process may use (affinity respected).
int host_processors();
/// Returns the default number of threads: host_processors(), limited by OMP_NUM_THREADS or the calling
/// thread's omp_set_num_threads(). The control group's quota of processor time limits it, too (a container's
/// `--cpus`). It is 1 within a parallel region of the program.
int host_threads();
/// Returns the processors that `group` and those around it, below `root`, may use by their files cpu.max,
/// rounded up; 0: no limit.
int processors_of_quota(const std::string& root, std::string group);
/// $XDG_CACHE_HOME/schaas, else ~/.cache/schaas.
std::string default_cache_directory();
/// $XDG_DATA_HOME/schaas, else ~/.local/share/schaas.
std::string default_data_directory();

}  // namespace schaas::client

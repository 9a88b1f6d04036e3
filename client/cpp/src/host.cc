#include "schaas/host.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace schaas::client {
namespace {

#if defined(__x86_64__)
// The x86-64 psABI levels, feature by feature (older compilers do not know the level names).
bool runs_v2() {
  return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
         __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
         __builtin_cpu_supports("popcnt");
}
bool runs_v3() {
  return runs_v2() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}
bool runs_v4() {
  return runs_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool runs_v2() { return false; }
bool runs_v3() { return false; }
bool runs_v4() { return false; }
#endif

}  // namespace

std::string host_isa() {
  if (runs_v4()) return "x86-64-v4";
  if (runs_v3()) return "x86-64-v3";
  if (runs_v2()) return "x86-64-v2";
  return "generic";
}

bool host_runs(const std::string& isa) {
  if (isa == "generic" || isa == "native") return true;
  if (isa == "x86-64-v2") return runs_v2();
  if (isa == "x86-64-v3") return runs_v3();
  if (isa == "x86-64-v4") return runs_v4();
  return false;
}

std::int64_t last_level_cache_bytes() {
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    const long bytes = sysconf(level);
    if (bytes > 0) return bytes;
  }
  return std::int64_t{32} << 20;
}

std::int64_t first_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return bytes > 0 ? bytes : 32 << 10;
}

std::int64_t second_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : 1 << 20;
}

int host_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace schaas::client

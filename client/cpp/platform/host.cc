#include "schaas/host.h"

#include <sched.h>
#include <unistd.h>

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <thread>
#include <utility>

#include "compiler/support/instruction_set.h"

// The machine as this process may use it: affinity, control group, OpenMP's settings, caches. Affinity and
// OpenMP's settings may change, so they are read at each call; the quota and the caches are read once.
namespace schaas::client {
namespace {

/// The group of this process in version 2 of the control groups, "/user.slice/..."; "" when there is none.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  return "";
}

#ifdef __x86_64__
bool is_amd() { return __builtin_cpu_is("amd") != 0; }
#else
bool is_amd() { return false; }
#endif

/// Returns the size of a data or unified cache of the first processor on which this process may run.
std::int64_t cache_bytes(int level, int name, std::int64_t otherwise) {
  cpu_set_t set;
  CPU_ZERO(&set);
  int processor = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    while (processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &set)) ++processor;
  const std::int64_t described =
      described_cache_bytes("/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache", level);
  if (described > 0) return described;
  const long bytes = sysconf(name);
  if (bytes <= 0) return otherwise;
  // The C library reports AMD's L3 caches of a whole package, of which a core reaches one.
  return level == 3 && is_amd() ? share_of_package(bytes) : bytes;
}

}  // namespace

// Reads the description of caches in Linux's file system, where the caches of a virtual machine may be
// missing.
std::int64_t described_cache_bytes(const std::string& caches, int level) {
  for (int index = 0;; ++index) {
    const std::string cache = caches + "/index" + std::to_string(index) + "/";
    std::ifstream levels(cache + "level"), types(cache + "type"), sizes(cache + "size");
    int found = 0;
    std::string type, unit;
    std::int64_t size = 0;
    if (!(levels >> found)) return 0;
    if (found != level || !(types >> type) || type == "Instruction" || !(sizes >> size)) continue;
    sizes >> unit;
    return size * (unit == "K" ? 1 << 10 : unit == "M" ? 1 << 20 : unit == "G" ? 1 << 30 : 1);
  }
}

// 32 MiB: the L3 cache of a core complex.
std::int64_t share_of_package(std::int64_t bytes) { return std::min(bytes, std::int64_t{32} << 20); }

// A group's quota is bounded by those of the groups above it: the smallest on the way to the root counts.
int processors_of_quota(const std::string& root, std::string group) {
  int least = 0;
  while (true) {
    std::ifstream file(root + group + "/cpu.max");
    double quota = 0, period = 0;
    if (file >> quota >> period && quota > 0 && period > 0) {  // "max 100000": none
      const int processors = std::max(1, static_cast<int>(std::ceil(quota / period)));
      least = least == 0 ? processors : std::min(least, processors);
    }
    if (group.empty() || group == "/") return least;
    group.resize(group.rfind('/'));
  }
}

// Returns the instruction set with the highest rank among those that run here.
std::string host_isa() {
  const support::InstructionSet* best = nullptr;
  for (const auto& one : support::instruction_sets()) {
    if (one.runs_here != nullptr && one.runs_here() && (best == nullptr || one.rank > best->rank))
      best = &one;
  }
  return best->name;
}

std::string isa_for(const std::string& asked) {
  return asked.empty() ? host_isa() : support::exact_isa(asked);
}

bool host_runs(const std::string& isa) { return support::runs_here(isa); }

std::int64_t last_level_cache_bytes() {
  static const std::int64_t bytes = [] {
    constexpr std::pair<int, int> levels[] = {
        {4, _SC_LEVEL4_CACHE_SIZE}, {3, _SC_LEVEL3_CACHE_SIZE}, {2, _SC_LEVEL2_CACHE_SIZE}};
    for (const auto& [level, name] : levels)
      if (const std::int64_t found = cache_bytes(level, name, 0); found > 0) return found;
    return std::int64_t{32} << 20;
  }();
  return bytes;
}

std::int64_t first_cache_bytes() {
  static const std::int64_t bytes = cache_bytes(1, _SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  return bytes;
}

std::int64_t second_cache_bytes() {
  static const std::int64_t bytes = cache_bytes(2, _SC_LEVEL2_CACHE_SIZE, 1 << 20);
  return bytes;
}

std::int64_t main_memory_bytes() {
  static const std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  return bytes > 0 ? bytes : std::int64_t{8} << 30;
}

int host_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// In a parallel region of the program each thread calls by itself: one more level would take the processors
// of others.
int host_threads() {
  if (omp_in_parallel() != 0) return 1;
  static const int quota = processors_of_quota("/sys/fs/cgroup", own_group());
  const int most = std::min(host_processors(), omp_get_max_threads());
  return std::max(1, quota > 0 ? std::min(most, quota) : most);
}

}  // namespace schaas::client

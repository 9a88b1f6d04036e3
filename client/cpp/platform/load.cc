#include "client/cpp/platform/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "schaas/host.h"

// The number of threads that find a processor at the moment. A reading of /proc/loadavg takes system calls
// and serves for 10 ms. The numbers are hints, shared without locks: relaxed atomics are enough, and two
// threads may both read anew. A stall is direct evidence: it says that a worker had no processor while it was
// waited for.
namespace schaas::client {
namespace {

constexpr std::chrono::milliseconds load_lifetime{10};
/// Less is what it takes to wake a sleeping thread.
constexpr std::chrono::microseconds shortest_stall{200};
constexpr int stalls_of_one_thread = 20;

std::string read_loadavg() {
  std::array<char, 128> text{};
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t size = ::read(file, text.data(), text.size());
  close(file);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

/// Processors that others than `own` threads leave. All where this process may not use every processor of the
/// machine: then the machine's load tells little about those that it may use.
int free_processors(int own) {
  const auto all = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (all != host_processors()) return std::numeric_limits<int>::max();
  return all - std::max(running_threads(read_loadavg()) - own, 0);
}

}  // namespace

int running_threads(const std::string& loadavg) {
  // The fourth field is `running/all`; the number ends at the slash.
  std::size_t field = 0;
  for (int n = 0; n < 3 && field != std::string::npos; ++n) field = loadavg.find(' ', field + 1);
  return field == std::string::npos ? 0 : std::atoi(loadavg.c_str() + field);
}

int Load::room(int wanted, int awake) {
  if (wanted <= 1) return 1;
  const Clock::duration now = Clock::now().time_since_epoch();
  // After a stall one thread is used until the time is over.
  if (now < one_until_.load(std::memory_order_relaxed)) return 1;
  if (now - load_lifetime > looked_.load(std::memory_order_relaxed)) {
    looked_.store(now, std::memory_order_relaxed);
    // The calling thread and the workers that are awake are in the count, and use no processor of others.
    free_.store(free_processors(awake + 1), std::memory_order_relaxed);
  }
  return std::clamp(free_.load(std::memory_order_relaxed), 1, wanted);
}

// One thread for twenty times the wait: trying again too early costs a twentieth at most.
void Load::note_stall(std::chrono::nanoseconds waited) {
  if (waited < shortest_stall) return;
  const Clock::duration until = Clock::now().time_since_epoch() + stalls_of_one_thread * waited;
  one_until_.store(until, std::memory_order_relaxed);
}

}  // namespace schaas::client

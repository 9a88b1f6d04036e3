#pragma once
#include <atomic>
#include <chrono>
#include <string>

namespace schaas::client {

/// How many threads the machine has room for at the moment. Thread-safe.
///
/// Two things tell. Processes that run or wait for a processor, which Linux counts, are looked at every few
/// milliseconds where this process may use all processors. And runs that had to wait for a worker that got
/// no processor: one thread is enough for twenty times as long then, so that trying costs a twentieth.
class Load {
 public:
  using Clock = std::chrono::steady_clock;

  /// Threads, of `wanted`, that find a processor; at least one. `awake`: workers of this process that run.
  int room(int wanted, int awake);
  /// Notes that a run waited so long while no worker got a processor.
  void note_stall(std::chrono::nanoseconds waited);

 private:
  std::atomic<Clock::duration> one_until_{Clock::duration::min()};
  std::atomic<Clock::duration> looked_{Clock::duration::min()};
  std::atomic<int> free_{1};  ///< processors that nobody else used when it was looked
};

/// Threads of the machine that run or wait for a processor, of the text of /proc/loadavg; 0: it tells none.
int running_threads(const std::string& loadavg);

}  // namespace schaas::client

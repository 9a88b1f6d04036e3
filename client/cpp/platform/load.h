#pragma once
#include <atomic>
#include <chrono>
#include <string>

namespace schaas::client {

/// Estimates the number of threads that the machine can run at the moment. Thread-safe.
///
/// The estimate has two sources. Where this process may use all processors, Linux's count of runnable
/// processes is read every few milliseconds. When a run waited for a worker that got no processor, one thread
/// is used for twenty times as long. Trying again then costs a twentieth.
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

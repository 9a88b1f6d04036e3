#pragma once
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace schaas::client {

/// Tasks [0, count) for some threads of a group: `call(context, task, thread)`.
struct TaskList {
  void (*call)(const void* context, std::int64_t task, int thread) = nullptr;
  const void* context = nullptr;
  std::int64_t count = 0;  ///< below 2^31
  int threads = 1;
};

/// A calling thread and its workers, which stay for the next caller. One caller at a time. Groups are never
/// destroyed: a worker may look at its group at any time.
///
/// The tasks are divided into a share for each thread (work stealing). A share is one word: the number of the
/// list and the count of remaining tasks. Any thread takes from any share by compare-and-swap. A worker that
/// wakes up late, in a later list or between two, finds another number and takes nothing, so no thread waits
/// for it. The list ends when all taken tasks are done. An OpenMP region ends at a barrier of all its
/// threads. Beside busy processes that takes a time slice: 3 to 12 ms for a kernel of 50 us.
///
/// All wait awake for some tens of microseconds where there are processors for all, then asleep.
class ThreadGroup {
 public:
  /// For up to `capacity` threads on so many processors. Its workers that do not sleep are counted in
  /// `awake`, which must stay.
  ThreadGroup(int capacity, int processors, std::atomic<int>& awake);
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  int capacity() const { return static_cast<int>(members_.size()); }
  /// Starts the workers that are missing, runs the tasks and returns when all are done. Where the system
  /// gives no further thread, fewer do them.
  void run(const TaskList& list);
  /// Returns the time that lists since the last call were waited for while no worker got a processor.
  std::chrono::nanoseconds take_stalled() { return std::exchange(stalled_, {}); }

 private:
  struct alignas(64) Member {
    std::atomic<std::uint64_t> share{0};   ///< (list << 32) + tasks left
    std::atomic<std::uint32_t> asleep{0};  ///< futex
    ThreadGroup* group = nullptr;
    int number = 0;
    clockid_t clock{};               ///< clock of the worker's processor time
    std::chrono::nanoseconds ran{};  ///< processor time at the start of a wait
  };

  static void* serve(void* member);
  std::chrono::nanoseconds spin_time() const;
  void start_workers(int threads);
  void wake_workers(int threads);
  std::uint32_t next_list(Member& member, std::uint32_t before) const;
  std::uint32_t take_tasks(std::uint32_t number, int thread);
  void finish(std::uint32_t goal);
  std::chrono::nanoseconds max_run();

  const int processors_;
  std::atomic<int>& awake_;
  std::vector<Member> members_;  ///< the first is the caller
  int started_ = 1;              ///< threads there are, the caller with them
  std::chrono::nanoseconds stalled_{};
  TaskList list_;                                     ///< read only by threads that have taken a task of it
  alignas(64) std::atomic<std::uint32_t> number_{0};  ///< number of the list
  std::atomic<int> threads_{1};                       ///< threads of the list
  alignas(64) std::atomic<std::uint32_t> done_{0};    ///< tasks that workers have done; futex
  std::atomic<std::uint32_t> caller_asleep_{0};
};

}  // namespace schaas::client

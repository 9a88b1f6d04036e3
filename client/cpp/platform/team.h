#pragma once
#include <cstdint>

#include "client/cpp/platform/thread_group.h"

namespace schaas::client {

class ThreadPool;

/// Threads that run tasks side by side for as long as the team lives: the calling thread, and workers of the
/// thread pool (thread_pool.h). A team belongs to the thread that made it.
class Team {
 public:
  /// So many threads, whatever else runs.
  static Team exactly(int threads);
  /// Those of `threads` that no other team of this process has and that the machine's load leaves room for
  /// (load.h); at least one.
  static Team at_most(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }

  /// Calls `work(task, thread)` once for each task in [0, count), and returns when all calls have returned;
  /// what they stored is visible then. A thread, in [0, threads()), takes the tasks of its own share first,
  /// so that the next run finds in its cache what it left there; then those that others have left. No worker
  /// is waited for before it has begun a task: the calling thread runs all of them if it must.
  template <class Work>
  void run(std::int64_t count, const Work& work) {
    if (threads_ == 1 || count <= 1) {
      for (std::int64_t task = 0; task < count; ++task) work(task, 0);
      return;
    }
    group_->run({&call<Work>, &work, count, threads_});
  }
  /// Calls `work(share, shares)` once for each of as many shares as there are threads.
  template <class Work>
  void run_shares(const Work& work) {
    run(threads_, [&](std::int64_t task, int) { work(static_cast<int>(task), threads_); });
  }

 private:
  Team(ThreadPool& pool, int threads);
  template <class Work>
  static void call(const void* work, std::int64_t task, int thread) {
    (*static_cast<const Work*>(work))(task, thread);
  }

  ThreadPool& pool_;
  int threads_;
  ThreadGroup* group_;  ///< null where there is one thread
};

/// Calls `work(begin, end)` for ranges that together are [0, count), side by side by at most `threads`
/// threads.
template <class Work>
void in_ranges(std::int64_t count, int threads, const Work& work) {
  constexpr int ranges_per_thread = 4;
  if (threads == 1) return work(std::int64_t{0}, count);
  Team team = Team::at_most(threads);
  const std::int64_t ranges = std::int64_t{team.threads()} * ranges_per_thread;
  team.run(ranges, [&](std::int64_t n, int) { work(count * n / ranges, count * (n + 1) / ranges); });
}

}  // namespace schaas::client

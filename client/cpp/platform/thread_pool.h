#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "client/cpp/platform/load.h"
#include "client/cpp/platform/process_mutex.h"
#include "client/cpp/platform/thread_group.h"

namespace schaas::client {

/// The worker threads of this process, in groups, of which each team of threads has one for as long as it
/// lives. A child after fork() has none of its parent's threads, and a pool of its own. Thread-safe.
class ThreadPool {
 public:
  static ThreadPool& current();

  /// A group for so many threads that no other team has. Its caller gives it back.
  ThreadGroup& lease(int threads);
  void give_back(ThreadGroup& group);

  /// Reserves a team's threads until it leaves: `threads`, or as many of them as no team has and the machine
  /// has capacity for, at least one. Returns their number.
  int enter(int threads);
  int enter_at_most(int threads);
  void leave(int threads) { taken_.fetch_sub(threads, std::memory_order_relaxed); }

  Load& load() { return load_; }

 private:
  ThreadPool() = default;

  const std::uint64_t generation_ = process_generation();
  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadGroup>> groups_;  ///< all there are
  std::vector<ThreadGroup*> idle_;                    ///< the last one used last
  std::atomic<int> awake_{0};                         ///< workers that do not sleep
  std::atomic<int> taken_{0};                         ///< threads of all teams
  Load load_;
};

}  // namespace schaas::client

#include "client/cpp/platform/thread_pool.h"

#include <algorithm>

#include "schaas/host.h"

// Groups of workers for teams. A team has a group for itself, and a group that is given back keeps its
// workers, asleep. The one used last is leased first: its workers may still be awake. Counts are relaxed
// atomics, as they bound how many threads a team takes, not what it computes.
namespace schaas::client {
namespace {

std::atomic<ThreadPool*> pool{nullptr};

}  // namespace

// Returns the pool of this process. It is never destroyed: workers outlive main(). A child leaves its
// parent's pool as it is, mutexes with it, since they may be locked.
ThreadPool& ThreadPool::current() {
  ThreadPool* known = pool.load(std::memory_order_acquire);
  if (known != nullptr && known->generation_ == process_generation()) return *known;
  // Two threads may come first; the pool of the one whose exchange fails is destroyed unused.
  std::unique_ptr<ThreadPool> made(new ThreadPool());
  if (pool.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return *known;
}

ThreadGroup& ThreadPool::lease(int threads) {
  const std::lock_guard lock(mutex_);
  const auto fits = [threads](const ThreadGroup* group) { return group->capacity() >= threads; };
  const auto found = std::find_if(idle_.rbegin(), idle_.rend(), fits);
  if (found != idle_.rend()) {
    ThreadGroup& group = **found;
    idle_.erase(std::next(found).base());
    return group;
  }
  // With as many workers as processors the group serves most later teams, too.
  const int processors = host_processors();
  groups_.push_back(std::make_unique<ThreadGroup>(std::max(threads, processors), processors, awake_));
  return *groups_.back();
}

void ThreadPool::give_back(ThreadGroup& group) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(&group);
}

int ThreadPool::enter(int threads) {
  taken_.fetch_add(threads, std::memory_order_relaxed);
  return threads;
}

// Teams that come side by side share the processors: what others have taken is subtracted in one atomic step.
int ThreadPool::enter_at_most(int threads) {
  const int room = load_.room(threads, awake_.load(std::memory_order_relaxed));
  int now = taken_.load(std::memory_order_relaxed), left = 1;
  do {
    left = std::max(1, std::min(room, threads - now));
  } while (!taken_.compare_exchange_weak(now, now + left, std::memory_order_relaxed));
  return left;
}

}  // namespace schaas::client

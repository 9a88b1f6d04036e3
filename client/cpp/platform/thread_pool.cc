#include "client/cpp/platform/thread_pool.h"

#include <algorithm>

#include "schaas/host.h"

namespace schaas::client {
namespace {

std::atomic<ThreadPool*> pool{nullptr};

}  // namespace

// Never destroyed: workers outlive main(), and what a parent's threads had, mutexes with it, is left as it
// is.
ThreadPool& ThreadPool::current() {
  ThreadPool* known = pool.load(std::memory_order_acquire);
  if (known != nullptr && known->generation_ == process_generation()) return *known;
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

int ThreadPool::enter_at_most(int threads) {
  const int room = load_.room(threads, awake_.load(std::memory_order_relaxed));
  int now = taken_.load(std::memory_order_relaxed), left = 1;
  do {
    left = std::max(1, std::min(room, threads - now));
  } while (!taken_.compare_exchange_weak(now, now + left, std::memory_order_relaxed));
  return left;
}

}  // namespace schaas::client

#include "server/answers/thread_pool.h"

#include <utility>

// A pool for the compilations of one request. `closing_` means that no job will come, not that jobs are
// dropped: threads end when the queue is empty. The destructor empties the queue first, so an error on the
// request's thread does not wait for compilations that nobody wants. The first exception of a job empties the
// queue, too, and is thrown again by `finish`.
namespace schaas::server {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
  }
  join();
}

void ThreadPool::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  // Threads are started by need: most requests are answered without a compilation.
  if (threads_.size() < wanted_) threads_.emplace_back([this] { work(); });
  changed_.notify_one();
}

void ThreadPool::finish() {
  join();
  if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::join() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadPool::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      job();
    } catch (...) {
      const std::lock_guard again(mutex_);
      if (!failure_) failure_ = std::current_exception();
      jobs_.clear();
    }
  }
}

}  // namespace schaas::server

#include "server/answers/thread_pool.h"

#include <utility>

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

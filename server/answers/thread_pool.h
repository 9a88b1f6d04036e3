#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace schaas::server {

/// Threads that run the compilations of one request in order of arrival, started on demand. A job that throws
/// stops the pool; `finish` rethrows on the request's own thread, where the request boundary catches it.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) : wanted_(threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Waits for running jobs and drops the queued ones.
  ~ThreadPool();

  void add(std::function<void()> job);
  /// Waits until every job is done; `add` must not be called afterwards.
  void finish();

 private:
  void work();
  void join();

  std::size_t wanted_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool closing_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace schaas::server

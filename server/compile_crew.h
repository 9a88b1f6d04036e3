#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace schaas::server {

/// A few threads that do the jobs of one request in order of arrival, started when first needed. A job that
/// throws ends the crew; `finish` throws it again in the request's own thread, where the request boundary
/// catches it.
class CompileCrew {
 public:
  explicit CompileCrew(std::size_t threads) : wanted_(threads) {}
  CompileCrew(const CompileCrew&) = delete;
  CompileCrew& operator=(const CompileCrew&) = delete;
  /// Waits for running jobs; those not begun are dropped.
  ~CompileCrew();

  void add(std::function<void()> job);
  /// Waits until every job is done. No `add` afterwards.
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

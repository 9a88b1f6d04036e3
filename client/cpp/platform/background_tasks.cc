#include "client/cpp/platform/background_tasks.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

namespace schaas::client {
namespace {

/// Signals are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

BackgroundTasks::BackgroundTasks(std::size_t max_threads) : max_threads_(max_threads) {}

BackgroundTasks::~BackgroundTasks() {
  if (process_generation() != generation_) {
    new std::vector<std::thread>(std::move(threads_));  // they are not in this process: nothing to join
    return;
  }
  stop_.request_stop();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    tasks_.clear();
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

bool BackgroundTasks::add(Task task) {
  if (process_generation() != generation_) return false;
  const std::lock_guard lock(mutex_);
  if (stop_.stop_requested()) return false;
  tasks_.push_back(std::move(task));
  join_ended();
  if (threads_.size() < max_threads_) {
    const SignalsBlocked blocked;
    threads_.emplace_back([this] { work(); });
  }
  return true;
}

/// With the mutex held: these threads do nothing but return.
void BackgroundTasks::join_ended() {
  for (const std::thread::id id : ended_) {
    const auto thread =
        std::find_if(threads_.begin(), threads_.end(), [&](const auto& one) { return one.get_id() == id; });
    thread->join();
    threads_.erase(thread);
  }
  ended_.clear();
}

void BackgroundTasks::work() {
  for (;;) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) {
        ended_.push_back(std::this_thread::get_id());
        return;
      }
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task(stop_.get_token());
  }
}

}  // namespace schaas::client

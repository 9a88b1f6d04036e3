#include "client/cpp/platform/background_tasks.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <utility>

#include "compiler/support/digest.h"
#include "compiler/support/signals_blocked.h"

// Tasks beside the calls of a program. Threads are started with the first task, up to a bound, and end when
// the queue is empty, so an idle session has none. They block all signals, whose handlers belong to the
// program. A forked child has none of the threads. It must not join them, nor take a lock that they may have
// held, so each entrance compares the generation of the process first. At exit all objects stop before the
// handlers of libraries free what tasks use.
namespace schaas::client {

/// The living objects. Programs that exit without closing their sessions leave tasks behind, which would go
/// on while exit handlers free what they use, as OpenSSL's does.
class BackgroundTasks::AtExit {
 public:
  /// Is never destroyed: tasks may be added until the end.
  static AtExit& instance() {
    static AtExit& made = *new AtExit;
    return made;
  }

  void add(BackgroundTasks& tasks) {
    const std::lock_guard lock(mutex_);
    living_.insert(&tasks);
  }
  void remove(BackgroundTasks& tasks) {
    const std::lock_guard lock(mutex_);
    living_.erase(&tasks);
  }

  // Stops all, then waits for all: they end side by side, within two seconds together.
  void end_all() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    const std::lock_guard lock(mutex_);
    for (BackgroundTasks* tasks : living_) tasks->stop_all();
    for (BackgroundTasks* tasks : living_)
      while (!tasks->is_idle() && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  ProcessMutex mutex_;
  std::set<BackgroundTasks*> living_;
};

// Handlers run in the reverse order of their registration: the library is initialised first, so that its
// handler comes after this one.
void BackgroundTasks::end_at_exit() {
  support::initialise_cryptography();
  std::atexit([] { AtExit::instance().end_all(); });
}

BackgroundTasks::BackgroundTasks(std::size_t max_threads) : max_threads_(max_threads) {
  static const bool registered = (end_at_exit(), true);
  static_cast<void>(registered);
  AtExit::instance().add(*this);
}

BackgroundTasks::~BackgroundTasks() {
  AtExit::instance().remove(*this);
  if (process_generation() != generation_) {
    // A thread object that is joinable ends the process when it is destroyed; so it is left.
    new std::vector<std::thread>(std::move(threads_));  // they are not in this process: nothing to join
    return;
  }
  // The threads are joined without the mutex, which each of them takes once more before it returns.
  stop_all();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

/// Does nothing in a forked child, where a thread that is not there may have held what the stop takes.
void BackgroundTasks::stop_all() {
  if (process_generation() != generation_) return;
  stop_.request_stop();
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

/// True in a forked child, which has none of the threads.
bool BackgroundTasks::is_idle() {
  if (process_generation() != generation_) return true;
  const std::lock_guard lock(mutex_);
  return ended_.size() == threads_.size();
}

bool BackgroundTasks::add(Task task) {
  if (process_generation() != generation_) return false;
  const std::lock_guard lock(mutex_);
  if (stop_.stop_requested()) return false;
  tasks_.push_back(std::move(task));
  // Threads that ended are taken out of the count first.
  join_ended();
  if (threads_.size() < max_threads_) {
    const support::SignalsBlocked blocked;
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

// A thread that finds the queue empty notes its end before it releases the mutex. A task that is added later
// finds that slot free.
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

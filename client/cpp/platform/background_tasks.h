#pragma once
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "client/cpp/platform/process_mutex.h"

namespace schaas::client {

/// Tasks that run beside the calls of a program, in the order in which they were added. A few threads run
/// them and end when the queue is empty. Thread-safe. A forked child has none of the threads: nothing runs
/// there.
class BackgroundTasks {
 public:
  explicit BackgroundTasks(std::size_t max_threads);
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;
  /// Drops what has not begun, asks what runs to stop, and waits for that.
  ~BackgroundTasks();

  /// A task ends soon after its token says stop. It throws nothing. False: it will not run, as in a forked
  /// child.
  using Task = std::function<void(const std::stop_token& stop)>;
  bool add(Task task);

  /// Ends the tasks of all objects when the process exits: drops, asks to stop, waits at most two seconds.
  /// Called again after a library is loaded that tasks use, it comes before that library's exit handlers,
  /// too.
  static void end_at_exit();

 private:
  class AtExit;

  void stop_all();
  bool is_idle();
  void work();
  void join_ended();

  const std::size_t max_threads_;
  const std::uint64_t generation_ = process_generation();
  std::stop_source stop_;
  ProcessMutex mutex_;  ///< guards all members below
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> ended_;
};

}  // namespace schaas::client

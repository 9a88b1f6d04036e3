// Mutexes of a process that forks: a child finds them free, and complete what they guard.
#include "client/cpp/platform/process_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace schaas::client {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Exit status of a child that does that; -1 when a signal ends it, as the alarm does when it hangs.
int status_of_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A thread that does something again and again, until the object's end.
class Repeating {
 public:
  explicit Repeating(std::function<void()> step)
      : thread_([this, step = std::move(step)] {
          while (!over_) step();
        }) {}
  ~Repeating() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(ProcessMutex, GuardsDataThatChildrenFindComplete) {
  ProcessMutex outer, inner;
  int first = 0, second = 0;
  const auto change = [&] {
    std::this_thread::sleep_for(100us);
    const std::lock_guard lock(outer);
    ++first;
    const std::lock_guard nested(inner);  // fork() takes both, in any order
    std::this_thread::sleep_for(200us);
    ++second;
  };
  const Repeating one(change), other(change);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(status_of_child([&] {
                const std::lock_guard lock(outer);
                return first == second ? 0 : 1;
              }),
              0);
  }
}

TEST(ProcessMutex, ServesTheParentAfterAFork) {
  ProcessMutex mutex;
  const Repeating forking([] { EXPECT_EQ(status_of_child([] { return 0; }), 0); });
  for (int i = 0; i < 200; ++i) {
    const std::lock_guard lock(mutex);
    std::this_thread::sleep_for(100us);
  }
}

TEST(ProcessMutex, MayComeAndGoWhileAnotherThreadForks) {
  const Repeating forking([] { EXPECT_EQ(status_of_child([] { return 0; }), 0); });
  for (int i = 0; i < 20000; ++i) {
    const auto mutex = std::make_unique<ProcessMutex>();
    const std::lock_guard lock(*mutex);
  }
}

/// Seconds of a fork() while another thread holds the mutex, which the child takes.
double seconds_of_fork_beside(ProcessMutex& mutex) {
  std::atomic<bool> held{false}, forked{false};
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held = true;
    while (!forked) std::this_thread::sleep_for(1ms);
  });
  while (!held) std::this_thread::sleep_for(1ms);
  const auto start = Clock::now();
  const int status = status_of_child([&] {
    const std::lock_guard lock(mutex);
    return 0;
  });
  const std::chrono::duration<double> passed = Clock::now() - start;
  forked = true;
  holder.join();
  EXPECT_EQ(status, 0);
  return passed.count();
}

TEST(ProcessMutex, DelaysForkForASecondAtMost) {
  ProcessMutex mutex;
  EXPECT_GE(seconds_of_fork_beside(mutex), 1);
}

TEST(ProcessMutex, DelaysNoForkWhenHeldAtLength) {
  ProcessMutex mutex(ProcessMutex::Held::at_length);
  EXPECT_LT(seconds_of_fork_beside(mutex), 1);
}

}  // namespace
}  // namespace schaas::client

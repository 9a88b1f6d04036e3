// Tasks beside the calls of a program: their end with their owner, and with the process.
#include "client/cpp/platform/background_tasks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "compiler/support/digest.h"

namespace schaas::client {
namespace {

using namespace std::chrono_literals;

/// Takes digests until it is told to stop.
void digest_until(const std::stop_token& stop) {
  while (!stop.stop_requested()) support::digest_of("some text");
}

TEST(BackgroundTasks, EndWithTheirOwner) {
  std::atomic<int> ended = 0;
  {
    BackgroundTasks tasks(2);
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(tasks.add([&](const std::stop_token& stop) {
        digest_until(stop);
        ++ended;
      }));
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(ended, 2);
}

TEST(BackgroundTasksDeathTest, EndBeforeTheLibrariesThatTheyUse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto* const kept = new BackgroundTasks(3);  // nobody closes it
        for (int i = 0; i < 3; ++i) kept->add(digest_until);
        std::this_thread::sleep_for(20ms);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(BackgroundTasksDeathTest, LetTheProcessExitThoughOneDoesNotStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EXIT(
      {
        auto* const kept = new BackgroundTasks(1);
        kept->add([](const std::stop_token&) { std::this_thread::sleep_for(60s); });
        std::this_thread::sleep_for(20ms);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

TEST(BackgroundTasksDeathTest, LetAForkedChildExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto* const kept = new BackgroundTasks(2);
        for (int i = 0; i < 2; ++i) kept->add(digest_until);
        std::this_thread::sleep_for(20ms);
        const pid_t child = fork();
        if (child == 0) std::exit(0);
        int status = 1;
        waitpid(child, &status, 0);
        std::exit(status);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace schaas::client

// The threads of a run: tasks, shares, workers that come late or never, load and fork().
#include "client/cpp/platform/team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>
#include <vector>

#include "client/cpp/platform/load.h"
#include "schaas/host.h"

namespace schaas::client {
namespace {

using std::chrono::milliseconds;

// How often each of `count` tasks ran, by so many threads.
std::vector<int> runs_of(Team& team, std::int64_t count) {
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(count));
  team.run(count, [&](std::int64_t task, int thread) {
    EXPECT_GE(thread, 0);
    EXPECT_LT(thread, team.threads());
    ++ran[static_cast<std::size_t>(task)];
  });
  return {ran.begin(), ran.end()};
}

// Exit status of a child that does `work`; -1 when it does not end within ten seconds.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  int status = -1;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return status;
}

TEST(Team, RunsEachTaskOnce) {
  for (const int threads : {1, 2, 3, 9}) {
    Team team = Team::exactly(threads);
    EXPECT_EQ(team.threads(), threads);
    for (const std::int64_t count : {0, 1, 2, 7, 100})
      EXPECT_EQ(runs_of(team, count), std::vector<int>(static_cast<std::size_t>(count), 1));
  }
}

TEST(Team, ShowsEachListWhatTheOneBeforeStored) {
  constexpr int tasks = 64, rounds = 2'000;
  for (const int threads : {2, 3, 9}) {
    Team team = Team::exactly(threads);
    std::vector<int> stored(tasks, 0);
    for (int round = 0; round < rounds; ++round) {
      team.run(tasks, [&](std::int64_t task, int) { stored[static_cast<std::size_t>(task)] += round; });
      if (std::accumulate(stored.begin(), stored.end(), 0) != tasks * round)
        FAIL() << "round " << round << " of " << threads << " threads";
      std::fill(stored.begin(), stored.end(), 0);
    }
  }
}

TEST(Team, GivesEachThreadOneTaskAtATime) {
  Team team = Team::exactly(4);
  std::vector<std::atomic<int>> inside(4);
  team.run(1'000, [&](std::int64_t, int thread) {
    EXPECT_EQ(inside[static_cast<std::size_t>(thread)].fetch_add(1), 0);
    inside[static_cast<std::size_t>(thread)].fetch_sub(1);
  });
}

TEST(Team, SharesCoverAllThreads) {
  for (const int threads : {1, 2, 5}) {
    Team team = Team::exactly(threads);
    std::vector<std::atomic<int>> came(static_cast<std::size_t>(threads));
    team.run_shares([&](int part, int parts) {
      EXPECT_EQ(parts, threads);
      ++came[static_cast<std::size_t>(part)];
    });
    for (const auto& times : came) EXPECT_EQ(times, 1);
  }
}

TEST(Team, WaitsAsleepForATaskThatTakesLong) {
  Team team = Team::exactly(2);
  std::atomic<bool> ended{false};
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> worker_came{false};
  team.run(2, [&](std::int64_t, int) {
    if (std::this_thread::get_id() == caller) {
      while (!worker_came) std::this_thread::yield();
      return;
    }
    worker_came = true;
    std::this_thread::sleep_for(milliseconds(50));
    ended = true;
  });
  EXPECT_TRUE(ended);
}

TEST(Team, RunsAllTasksWhereTheSystemGivesNoThread) {
  EXPECT_EQ(status_of_child([] {
              const rlimit none{1, 1};
              if (setrlimit(RLIMIT_AS, &none) != 0) _exit(1);
              Team team = Team::exactly(3);
              int ran = 0;
              team.run(20, [&](std::int64_t, int thread) { ran += thread == 0 ? 1 : 100; });
              if (ran != 20) _exit(2);
            }),
            0);
}

TEST(Team, SideBySideEachHasItsOwnThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        Team team = Team::exactly(1 + round % 4);
        std::atomic<std::int64_t> sum{0};
        team.run(50, [&](std::int64_t task, int) { sum += task; });
        wrong += sum != 49 * 50 / 2;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Team, TakesTheThreadsThatNoOtherHas) {
  {
    const Team all = Team::exactly(5);
    EXPECT_EQ(Team::at_most(5).threads(), 1);
  }
  EXPECT_EQ(Team::exactly(8).threads(), 8);  // a number that was named is kept to
}

TEST(Team, RangesCoverAllIterations) {
  for (const std::int64_t count : {0, 1, 3, 1'000}) {
    for (const int threads : {1, 3}) {
      std::vector<std::atomic<int>> ran(static_cast<std::size_t>(count));
      in_ranges(count, threads, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) ++ran[static_cast<std::size_t>(n)];
      });
      for (const auto& times : ran) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Team, WorksInAChildAfterForkAndInTheParentStill) {
  Team before = Team::exactly(3);
  EXPECT_EQ(runs_of(before, 20), std::vector<int>(20, 1));
  const auto child = [] {
    Team team = Team::exactly(3);
    if (runs_of(team, 20) != std::vector<int>(20, 1)) _exit(1);
    if (Team::at_most(1).threads() != 1) _exit(2);
  };
  EXPECT_EQ(status_of_child(child), 0);
  EXPECT_EQ(status_of_child([&] { _exit(status_of_child(child)); }), 0);  // a grandchild
  EXPECT_EQ(runs_of(before, 20), std::vector<int>(20, 1));
}

TEST(Team, WorksInAChildForkedWhileOtherThreadsCompute) {
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      while (!over) {
        Team team = Team::exactly(2);
        team.run(50, [](std::int64_t, int) {});
      }
    });
  }
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(status_of_child([] {
                Team team = Team::exactly(2);
                if (runs_of(team, 20) != std::vector<int>(20, 1)) _exit(1);
              }),
              0);
  }
  over = true;
  for (std::thread& caller : callers) caller.join();
}

TEST(Load, ReadsHowManyThreadsRun) {
  EXPECT_EQ(running_threads("14.47 9.08 4.21 19/190 21141\n"), 19);
  EXPECT_EQ(running_threads("0.00 0.00 0.00 1/1 1\n"), 1);
  EXPECT_EQ(running_threads(""), 0);
  EXPECT_EQ(running_threads("0.00 0.00"), 0);
}

TEST(Load, LeavesOneThreadForTwentyTimesAsLongAsARunStalled) {
  Load load;
  EXPECT_EQ(load.room(1, 0), 1);
  load.note_stall(milliseconds(5));
  EXPECT_EQ(load.room(4, 0), 1);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(load.room(4, 0), 1);
  std::this_thread::sleep_for(milliseconds(80));
  EXPECT_GE(load.room(4, 1'000'000), 2);  // whatever runs here counts as this process's own
}

TEST(Load, IgnoresStallsAsShortAsWakingAThread) {
  Load load;
  load.note_stall(std::chrono::microseconds(50));
  EXPECT_GE(load.room(4, 1'000'000), 2);
}

TEST(Load, LeavesRoomForThreadsOfOthers) {
  const auto processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (host_processors() != processors) GTEST_SKIP() << "this process may not use all processors";
  std::atomic<bool> over{false};
  std::vector<std::thread> spinning;
  for (int n = 0; n < 2 * processors; ++n)
    spinning.emplace_back([&] {
      while (!over) continue;
    });
  std::this_thread::sleep_for(milliseconds(50));
  Load load;
  EXPECT_EQ(load.room(processors, 0), 1);
  over = true;
  for (std::thread& one : spinning) one.join();
}

}  // namespace
}  // namespace schaas::client

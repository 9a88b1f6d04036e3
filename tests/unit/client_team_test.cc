// The threads of a run: they meet, and share pieces.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "../../client/cpp/src/taken_pieces.h"
#include "../../client/cpp/src/team.h"

namespace schaas::client {
namespace {

// Each of `team` threads of its own calls `work(thread)`.
template <class Work>
void side_by_side(int team, const Work& work) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < team; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
}

TEST(Meeting, EachSeesWhatAllHadStoredAlsoWhereThreadsOutnumberProcessors) {
  constexpr int rounds = 300;
  for (const int team : {2, 3, 9}) {
    Meeting meeting;
    std::vector<int> stored(static_cast<std::size_t>(team), -1);
    std::atomic<int> wrong{0};
    side_by_side(team, [&](int thread) {
      const Member member{thread, team, meeting};
      for (int round = 0; round < rounds; ++round) {
        stored[static_cast<std::size_t>(thread)] = round;
        member.wait();
        for (const int other : stored) wrong += other != round;
        member.wait();
      }
    });
    EXPECT_EQ(wrong, 0) << team << " threads";
  }
}

TEST(Meeting, WaitsForTheOneThatComesLateAsleep) {
  Meeting meeting;
  bool there = false;
  side_by_side(2, [&](int thread) {
    if (thread == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      there = true;
    }
    meeting.wait(2);
    EXPECT_TRUE(there);
  });
}

TEST(Team, OneMemberWaitsForNobodyAndEachMemberComesOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> came(static_cast<std::size_t>(threads));
    std::atomic<int> members{0}, told{0};
    in_team(threads, [&](const Member& member) {
      ++came[static_cast<std::size_t>(member.thread)];
      ++members;
      member.wait();
      told = member.team;
      EXPECT_EQ(members, member.team);
    });
    EXPECT_EQ(members, told);
    for (int thread = 0; thread < told; ++thread) EXPECT_EQ(came[static_cast<std::size_t>(thread)], 1);
  }
}

TEST(Team, ARegionThatGetsFewerThreadsThanAskedForMeetsAllTheSame) {
  omp_set_max_active_levels(1);
  std::atomic<int> inner{0};
#pragma omp parallel num_threads(2)
  in_team(4, [&](const Member& member) {
    EXPECT_EQ(member.team, 1);
    member.wait();
    ++inner;
  });
  EXPECT_EQ(inner, 2);
}

TEST(TakenPieces, EachIsTakenOnceAndAgainAfterStartingOver) {
  constexpr int team = 3;
  TakenPieces pieces(team);
  for (const int count : {0, 1, 2, 100}) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
    pieces.start_over();
    side_by_side(team, [&](int thread) {
      pieces.take(
          count, thread, team, [] { return true; }, [&](std::size_t piece) { ++done[piece]; });
    });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(TakenPieces, OwnSharesComeFirstAndNothingIsTakenAfterAFailure) {
  TakenPieces pieces(2);
  std::vector<std::size_t> order;
  pieces.take(
      4, 1, 2, [&] { return order.size() < 3; }, [&](std::size_t piece) { order.push_back(piece); });
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 3, 0}));
}

}  // namespace
}  // namespace schaas::client

#include "schaas/tuning.h"

#include <gtest/gtest.h>

// Autotuning with scripted candidates: each run takes the next number of a list as its seconds. Rounds,
// repetitions and early elimination are therefore exact numbers of runs. A median without the warm-up run
// decides, and a lead below 3 % does not displace an earlier candidate. Remembered timings count only at
// equal size class, instruction set and threads, and from two schedules on.
namespace schaas::client {
namespace {

/// Says that its runs took the given seconds, the last of them for ever; counts.
struct Scripted {
  std::vector<double> seconds;
  int runs = 0;
  TimedRun run() {
    return [this]() -> support::Result<double> {
      const auto n = static_cast<std::size_t>(runs++);
      return seconds[std::min(n, seconds.size() - 1)];
    };
  }
};

TEST(Contests, take_the_median_of_interleaved_runs) {
  Scripted steady{{9, 1.2}}, noisy{{9, 1, 7, 1, 7, 1, 1, 1}};
  const auto found = measure_candidates({{"a", "ta", steady.run()}, {"b", "tb", noisy.run()}}, 1e9);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)[0].id, "a");
  EXPECT_EQ((*found)[1].trace, "tb");
  EXPECT_EQ((*found)[0].seconds, 1.2);  // the first run of each warms up and does not count
  EXPECT_EQ((*found)[1].seconds, 1);
  EXPECT_EQ((*found)[0].runs, 15);
  EXPECT_EQ(steady.runs, 16);
  EXPECT_EQ(winner(*found), 1U);
}

TEST(Contests, do_not_go_on_with_what_cannot_win) {
  Scripted fast{{1}}, slow{{2}}, far{{5}}, near{{1.4}};
  const auto found = measure_candidates(
      {{"slow", "", slow.run()}, {"fast", "", fast.run()}, {"far", "", far.run()}, {"near", "", near.run()}},
      1e9);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(far.runs, 1);  // its first run, a long one, took four times the least
  EXPECT_EQ((*found)[2].seconds, 5);
  EXPECT_EQ((*found)[2].runs, 1);
  EXPECT_EQ(slow.runs, 4);
  EXPECT_EQ(fast.runs, 16);
  EXPECT_EQ(near.runs, 16);
  EXPECT_EQ(winner(*found), 1U);
  // One unlucky run is no reason.
  Scripted unlucky{{1, 3, 1}}, other{{1.2}};
  EXPECT_EQ(
      winner(measure_candidates({{"other", "", other.run()}, {"unlucky", "", unlucky.run()}}, 1e9).value()),
      1U);
}

TEST(Contests, end_when_one_is_left_or_time_is_over) {
  Scripted fast{{1}}, slow{{2}};
  ASSERT_TRUE(measure_candidates({{"slow", "", slow.run()}, {"fast", "", fast.run()}}, 1e9).ok());
  EXPECT_EQ(fast.runs, 4);
  Scripted one{{1}}, other{{1}};
  ASSERT_TRUE(measure_candidates({{"one", "", one.run()}, {"other", "", other.run()}}, 0).ok());
  EXPECT_EQ(one.runs, 2);
  EXPECT_EQ(other.runs, 2);
}

TEST(Contests, run_what_is_short_several_times_in_a_row) {
  Scripted quick{{5e-4, 1e-4}}, instant{{1e-9}}, slow{{0.09}};
  const auto found = measure_candidates(
      {{"quick", "", quick.run()}, {"instant", "", instant.run()}, {"slow", "", slow.run()}}, 0);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(quick.runs, 1 + 2);  // as long as the first run took, which is all that is known by then
  EXPECT_EQ(instant.runs, 1 + 100);
  EXPECT_EQ(slow.runs, 1 + 1);
  EXPECT_EQ((*found)[0].runs, 2);
  EXPECT_DOUBLE_EQ((*found)[0].seconds, 1e-4);
  Scripted again{{5e-4, 1e-4}}, other{{1e-4}};
  ASSERT_TRUE(measure_candidates({{"again", "", again.run()}, {"other", "", other.run()}}, 1e9).ok());
  EXPECT_EQ(again.runs, 1 + 2 + 14 * 10);
}

TEST(Contests, report_a_run_that_fails) {
  const auto found = measure_candidates(
      {{"a", "", [] { return support::Result<double>(support::internal("x", "broken")); }}}, 1);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(support::render(found.error()), "internal [x]: broken");
}

TEST(Winners, are_not_overtaken_by_noise) {
  EXPECT_EQ(winner({{"predicted", "", 1.02, 1}, {"other", "", 1, 1}}), 0U);
  EXPECT_EQ(winner({{"predicted", "", 1.04, 1}, {"other", "", 1, 1}}), 1U);
  EXPECT_EQ(winner({{"predicted", "", 1.04, 1}, {"other", "", 1.01, 1}, {"third", "", 1, 1}}), 1U);
  EXPECT_EQ(winner({{"only", "", 1, 1}}), 0U);
}

Frontier frontier_of_a_product() {
  Frontier frontier;
  frontier.user_indices = {{"i", "row"}, {"j", "col"}};
  frontier.user_tensors = {{"A", "Out"}, {"B", "Mask"}};
  return frontier;
}

TEST(SizeClasses, are_rounded_logarithms_by_canonical_names) {
  const Frontier frontier = frontier_of_a_product();
  const Sizes sizes{{{"row", 1000}, {"col", 0}, {"other", 5}}, {{"Mask", {1000, 33}}, {"Unknown", {7}}}};
  EXPECT_EQ(size_class(frontier, sizes), "i=10 j=- B:10,5");
  EXPECT_EQ(size_class(frontier, {{{"row", 1}, {"col", 1}}, {}}), "i=0 j=0");
}

TEST(Remembering, takes_the_fastest_of_at_least_two_in_the_same_circumstances) {
  Frontier frontier = frontier_of_a_product();
  const Sizes sizes{{{"row", 1000}, {"col", 1000}}, {{"Mask", {1000, 9000}}}};
  Machine machine;
  machine.threads = 2;
  const std::string here = size_class(frontier, sizes);
  frontier.measurements = {{"slow", here, "v4", 2, 2.0},
                           {"elsewhere", "i=3", "v4", 2, 0.1},
                           {"one thread", here, "v4", 1, 0.1},
                           {"other code", here, "v3", 2, 0.1}};
  EXPECT_FALSE(remembered(frontier, sizes, machine, {"v4"}));  // of one schedule alone nothing follows
  frontier.measurements.push_back({"fast", here, "v4", 2, 1.0});
  const auto best = remembered(frontier, sizes, machine, {"v4"});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->trace, "fast");
  EXPECT_EQ(best->seconds, 1.0);
  EXPECT_EQ(best->of, 2U);
}

}  // namespace
}  // namespace schaas::client

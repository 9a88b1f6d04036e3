#include <gtest/gtest.h>

#include "compiler/space/space.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/paper_kernels.h"
#include "tests/support/seed.h"

// Members of the schedule spaces of the eight kernels, applied, lowered, compiled and run, against the dense
// oracle. Built twice: members_test takes a few members of every space, half of them others each day;
// members_slow_test (label slow) takes every member of the spaces of K4 and K7 and 300 of each other.
// SCHAAS_SEED=n chooses another seed; the seed is in every failure.
namespace schaas {
namespace {

using test_support::Trials;

#if defined(SCHAAS_EVERY_MEMBER)
constexpr std::size_t drawn_members = 300;
constexpr std::size_t narrow_share = 8;
#else
constexpr std::size_t drawn_members = 12;
constexpr std::size_t narrow_share = 4;
#endif
constexpr std::size_t batch = 32;  ///< kernels per call of the compiler
constexpr std::size_t runs = 4;    ///< inputs of every kernel
constexpr std::size_t shown = 5;   ///< failures told in full

std::uint64_t seed() { return test_support::seed_or(20260101); }

problem::Problem wide(const std::string& kernel) {
  auto text = test_support::paper_kernel(kernel).text;
  text.position_bits = "64";
  return problem::build(text).value();
}

problem::Problem narrow(const std::string& kernel) {
  auto text = test_support::paper_kernel(kernel).text;
  text.position_bits = "32";
  text.value_type = "f32";
  return problem::build(text).value();
}

/// Every schedule as f64 with 64-bit positions, every `narrow_share`-th also as f32 with 32-bit positions.
void expect_right(const std::string& kernel, const std::vector<schedule::Trace>& schedules) {
  SCOPED_TRACE(kernel + ", seed " + std::to_string(seed()));
  test_support::QuickToolchain toolchain;
  std::mt19937_64 random(seed());
  std::vector<schedule::Trace> some;
  for (std::size_t n = 0; n < schedules.size(); n += narrow_share) some.push_back(schedules[n]);
  std::size_t failures = 0;
  const auto check = [&](const problem::Problem& problem, const std::vector<schedule::Trace>& all) {
    const Trials trials(problem, 12, seed());
    for (std::size_t begin = 0; begin < all.size() && failures < shown; begin += batch) {
      const std::size_t end = std::min(begin + batch, all.size());
      const std::vector<schedule::Trace> part(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                              all.begin() + static_cast<std::ptrdiff_t>(end));
      for (const auto& failure : trials.failures(part, runs, *toolchain, random)) {
        if (++failures <= shown) ADD_FAILURE() << failure;
      }
    }
  };
  check(wide(kernel), schedules);
  check(narrow(kernel), some);
}

class DrawnMembers : public testing::TestWithParam<const char*> {};

TEST_P(DrawnMembers, ComputeWhatTheOracleSays) {
  const problem::Problem problem = wide(GetParam());
  SCOPED_TRACE("seed of the day " + std::to_string(test_support::seed_of_the_day()));
  space::Space space(problem, {});
  std::mt19937_64 fixed(seed()), of_the_day(test_support::seed_of_the_day());
  std::vector<schedule::Trace> schedules{schedule::Trace{}};
  while (schedules.size() < drawn_members) {
    std::mt19937_64& random = schedules.size() < drawn_members / 2 ? fixed : of_the_day;
    auto trace = space.draw(random);
    ASSERT_TRUE(trace.ok()) << support::render(trace.error());
    schedules.push_back(std::move(trace).value());
  }
  expect_right(GetParam(), schedules);
}

const auto name_of = [](const auto& parameter) { return std::string(parameter.param); };

#if defined(SCHAAS_EVERY_MEMBER)
INSTANTIATE_TEST_SUITE_P(Kernels, DrawnMembers, testing::Values("K1", "K2", "K3", "K5", "K6", "K8"), name_of);

/// A kernel and which eighth of its members: one test each, so that they may run side by side.
class EveryMember : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {};

TEST_P(EveryMember, ComputesWhatTheOracleSays) {
  const auto [kernel, part] = GetParam();
  const problem::Problem problem = wide(kernel);
  space::Space space(problem, {});
  std::vector<schedule::Trace> schedules;
  std::size_t members = 0;
  const auto visited = space.for_each(
      [&, eighth = part](const schedule::Trace& trace) {
        if (members++ % 8 == eighth) schedules.push_back(trace);
        return true;
      },
      support::Cancellation());
  ASSERT_TRUE(visited.ok()) << support::render(visited.error());
  ASSERT_EQ(std::to_string(members), test_support::paper_kernel(kernel).symmetric_members);
  expect_right(kernel, schedules);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryMember,
                         testing::Combine(testing::Values("K4", "K7"), testing::Range<std::size_t>(0, 8)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param)) + "_part_" +
                                  std::to_string(std::get<1>(parameter.param));
                         });
#else
INSTANTIATE_TEST_SUITE_P(Kernels, DrawnMembers,
                         testing::Values("K1", "K2", "K3", "K4", "K5", "K6", "K7", "K8"), name_of);
#endif

}  // namespace
}  // namespace schaas

#include <gtest/gtest.h>

#include "compiler/space/space.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/paper_kernels.h"
#include "tests/support/seed.h"

// Members that the space options add, applied, lowered, compiled and run, against the dense oracle. Built
// twice: wider_members_test draws a few under all options together; wider_members_slow_test (label slow)
// takes every member of the spaces of K4 and K7 under each option, and 300 of each other. SCHAAS_SEED=n
// chooses another seed; the seed is in every failure.
namespace schaas {
namespace {

using problem::SpaceOption;
using problem::SpaceOptions;
using Traces = std::vector<schedule::Trace>;

constexpr std::size_t batch = 32;  ///< kernels per call of the compiler
constexpr std::size_t runs = 4;    ///< inputs of every kernel
constexpr std::size_t shown = 5;   ///< failures told in full

std::uint64_t seed() { return test_support::seed_or(20260101); }

problem::Problem kernel(const std::string& name, SpaceOptions options) {
  auto text = test_support::paper_kernel(name).text;
  text.position_bits = "64";
  text.space = problem::print(options);
  return problem::build(text).value();
}

void expect_right(const problem::Problem& problem, const Traces& schedules) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  test_support::QuickToolchain toolchain;
  std::mt19937_64 random(seed());
  const test_support::Trials trials(problem, 12, seed());
  std::size_t failures = 0;
  for (std::size_t begin = 0; begin < schedules.size() && failures < shown; begin += batch) {
    const auto end =
        schedules.begin() + static_cast<std::ptrdiff_t>(std::min(begin + batch, schedules.size()));
    const Traces part(schedules.begin() + static_cast<std::ptrdiff_t>(begin), end);
    for (const auto& failure : trials.failures(part, runs, *toolchain, random)) {
      if (++failures <= shown) ADD_FAILURE() << failure;
    }
  }
}

Traces drawn(const problem::Problem& problem, std::size_t count) {
  space::Space space(problem, {});
  std::mt19937_64 random(seed());
  Traces out;
  while (out.size() < count) out.push_back(space.draw(random).value());
  return out;
}

class DrawnMembers : public testing::TestWithParam<const char*> {};

#if defined(SCHAAS_EVERY_MEMBER)
constexpr std::size_t drawn_members = 300;

/// Every member of a small space under one option.
class EveryMember : public testing::TestWithParam<std::tuple<const char*, SpaceOption>> {};

TEST_P(EveryMember, ComputesWhatTheOracleSays) {
  const auto [name, option] = GetParam();
  const problem::Problem problem = kernel(name, option);
  space::Space space(problem, {});
  Traces schedules;
  const auto visited = space.for_each(
      [&](const schedule::Trace& trace) {
        schedules.push_back(trace);
        return true;
      },
      support::Cancellation());
  ASSERT_TRUE(visited.ok()) << support::render(visited.error());
  EXPECT_EQ(space.count(support::Cancellation()).value(), schedules.size());
  expect_right(problem, schedules);
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryMember,
                         testing::Combine(testing::Values("K4", "K7"),
                                          testing::Values(SpaceOption::shorter_fusion,
                                                          SpaceOption::stored_producers,
                                                          SpaceOption::row_blocks)),
                         [](const auto& parameter) {
                           std::string option = problem::name(std::get<1>(parameter.param));
                           std::replace(option.begin(), option.end(), '-', '_');
                           return std::string(std::get<0>(parameter.param)) + "_" + option;
                         });
#else
constexpr std::size_t drawn_members = 12;
#endif

TEST_P(DrawnMembers, ComputeWhatTheOracleSays) {
  const problem::Problem problem = kernel(GetParam(), SpaceOptions::all());
  expect_right(problem, drawn(problem, drawn_members));
}

INSTANTIATE_TEST_SUITE_P(Kernels, DrawnMembers,
                         testing::Values("K1", "K2", "K3", "K4", "K5", "K6", "K7", "K8"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace schaas

#include <gtest/gtest.h>

#include "compiler/schedule/replay/apply.h"
#include "tests/support/kernel_batch.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/random_problem.h"
#include "tests/support/seed.h"

// Random products with random formats under random schedules, compiled and run, against the dense oracle:
// several sparse operands, permuted mode orders, scalars, fused loops capped anywhere. The spaces contain no
// more than a part of these trees. SCHAAS_SEED=n chooses another seed; it is in every failure.
namespace schaas {
namespace {

#if defined(SCHAAS_MANY_KERNELS)
constexpr int problems = 1500;
#else
constexpr int problems = 60;
#endif
constexpr int schedules_of_each = 4;

std::uint64_t seed() { return test_support::seed_or(20260101); }

TEST(RandomKernels, ComputeWhatTheOracleSays) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  std::mt19937_64 random(seed());
  test_support::QuickToolchain toolchain;
  int failures = 0;
  int computed = 0;
  for (int n = 0; n < problems && failures < 5; ++n) {
    const auto problem = test_support::random_problem({.lists = true}, random);
    ASSERT_TRUE(schedule::apply({}, problem).ok()) << problem::print(problem);
    std::vector<schedule::Trace> schedules{schedule::Trace{}};
    while (schedules.size() < schedules_of_each) {
      schedules.push_back(test_support::random_trace(problem, 6, random));
    }
    const test_support::Trials trials(problem, 6, random());
    for (const auto& failure : trials.failures(schedules, 6, *toolchain, random)) {
      if (++failures <= 5) ADD_FAILURE() << failure;
    }
    ++computed;
  }
  EXPECT_EQ(failures < 5 ? problems : computed, computed);
}

/// Registers of complex numbers times one number, in few and in many registers side by side.
TEST(RandomKernels, OfComplexNumbersScaleRegisters) {
  std::mt19937_64 random(seed());
  test_support::QuickToolchain toolchain;
  for (const char* type : {"c64", "c128"}) {
    problem::ProblemText text;
    text.expression = "A(i,k) = B(i,j) * C(j,k)";
    text.formats["B"] = "csr";
    text.value_type = type;
    const auto problem = problem::build(text).value();
    const test_support::Trials trials(problem, 12, random());
    const std::vector<schedule::Trace> schedules{schedule::Trace{},
                                                 schedule::parse("reorder(path={}, order={i,j,k})").value()};
    for (const auto& failure : trials.failures(schedules, 12, *toolchain, random)) ADD_FAILURE() << failure;
  }
}

}  // namespace
}  // namespace schaas

// Kernels are tried before they are served: hand-written ones, right and wrong in the ways of compilers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "schaas/trial.h"

namespace schaas::client {
namespace {

using testing::HasSubstr;

Kernel kernel(const std::string& variant, const std::string& kind = "kernel") {
  std::ifstream file(std::string(SCHAAS_FIXTURE_DIR) + "/libclient_" + kind + "_" + variant + ".so",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return Kernel::load(bytes, support::digest_of(bytes)).value();
}

std::string complaint(const std::string& variant) {
  const auto trial = try_kernel(kernel(variant), 1);
  return trial.ok() ? "" : support::render(trial.error());
}

TEST(Trial, AdmitsAKernelThatIsRight) {
  const auto trial = try_kernel(kernel("good"), 1);
  ASSERT_TRUE(trial.ok()) << support::render(trial.error());
  // Full, empty, ragged, ones, zeros, and each of three indices wide, and what is dense at seven sizes; one
  // thread and three, twice.
  EXPECT_EQ(trial->runs, 15 * 4);
  EXPECT_EQ(trial->not_tried, "");
}

TEST(Trial, FindsWrongNumbers) {
  EXPECT_THAT(complaint("skips"), HasSubstr("[kernel-wrong]: wrong at i="));
  EXPECT_THAT(complaint("skips"), HasSubstr("full, seed 1, 1 thread, run 1: element "));
}

TEST(Trial, FindsAWorkspaceLeftDirty) { EXPECT_THAT(complaint("dirt"), HasSubstr("[kernel-wrong]")); }

TEST(Trial, FindsWrongValuesOfAResultThatKeepsItsStructure) {
  const auto trial = try_kernel(kernel("values", "sparse_kernel"), 1);
  ASSERT_TRUE(trial.ok()) << support::render(trial.error());
  EXPECT_EQ(trial->runs % 3, 0);
  const auto wrong = try_kernel(kernel("wrong_values", "sparse_kernel"), 1);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(support::render(wrong.error()), HasSubstr("1 thread, run 3: element "));
}

TEST(TrialDeathTest, EndsAKernelThatLooksBeyondItsArrays) {
  EXPECT_EXIT((void)try_kernel(kernel("overruns"), 1), testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace schaas::client

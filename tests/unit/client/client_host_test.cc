// What this machine runs and how many threads it gives.
#include "schaas/host.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "client/cpp/runtime/gathers.h"
#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

using test_support::TemporaryDirectory;

TEST(Host, threads_are_as_many_as_OpenMP_and_the_processors_allow) {
  EXPECT_EQ(host_threads(), std::min(host_processors(), omp_get_max_threads()));
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  EXPECT_EQ(host_threads(), 1);
  omp_set_num_threads(before);
}

TEST(Host, GathersPayOnUnmitigatedProcessorsOfIntel) {
  const TemporaryDirectory root;
  const std::string file = root.path().string() + "/gather_data_sampling";
  EXPECT_FALSE(gathers_pay(true, file));  // nothing is told
  std::ofstream(file) << "Not affected\n";
  EXPECT_TRUE(gathers_pay(true, file));
  EXPECT_FALSE(gathers_pay(false, file));
  std::ofstream(file) << "Mitigation: Microcode\n";
  EXPECT_FALSE(gathers_pay(true, file));
}

TEST(Host, a_groups_quota_counts_as_processors) {
  const TemporaryDirectory root;
  const auto write = [&](const std::string& group, const char* text) {
    std::filesystem::create_directories(root.path().string() + group);
    std::ofstream(root.path().string() + group + "/cpu.max") << text;
  };
  EXPECT_EQ(processors_of_quota(root.path().string(), "/a/b"), 0);  // no file
  write("/a/b", "max 100000\n");
  EXPECT_EQ(processors_of_quota(root.path().string(), "/a/b"), 0);
  write("/a", "350000 100000\n");
  EXPECT_EQ(processors_of_quota(root.path().string(), "/a/b"), 4);
  write("/a/b", "20000 100000\n");
  EXPECT_EQ(processors_of_quota(root.path().string(), "/a/b"), 1);
  write("", "250000 100000\n");  // of a container, which sees its own group as the root
  EXPECT_EQ(processors_of_quota(root.path().string(), ""), 3);
  EXPECT_EQ(processors_of_quota(root.path().string(), "/"), 3);
}

TEST(Host, caches_are_those_that_Linux_describes) {
  const TemporaryDirectory root;
  const auto write = [&](const std::string& index, const char* level, const char* type, const char* size) {
    std::filesystem::create_directories(root.path() / index);
    std::ofstream(root.path() / index / "level") << level << "\n";
    std::ofstream(root.path() / index / "type") << type << "\n";
    std::ofstream(root.path() / index / "size") << size << "\n";
  };
  const auto bytes = [&](int level) { return described_cache_bytes(root.path().string(), level); };
  EXPECT_EQ(bytes(1), 0);  // no folder
  write("index0", "1", "Instruction", "64K");
  write("index1", "1", "Data", "32K");
  write("index2", "2", "Unified", "1024K");
  write("index3", "3", "Unified", "32M");
  EXPECT_EQ(bytes(1), 32 << 10);
  EXPECT_EQ(bytes(2), 1 << 20);
  EXPECT_EQ(bytes(3), 32 << 20);
  EXPECT_EQ(bytes(4), 0);
  write("index3", "3", "Unified", "");
  EXPECT_EQ(bytes(3), 0);
}

TEST(Host, a_core_has_a_share_of_what_all_of_a_package_have) {
  EXPECT_EQ(share_of_package(std::int64_t{508} << 20), 32 << 20);
  EXPECT_EQ(share_of_package(8 << 20), 8 << 20);
}

TEST(Host, GivesOneThreadWithinAParallelRegionOfTheProgram) {
  std::atomic<int> threads{0};
#pragma omp parallel num_threads(2)
  threads += host_threads();
  EXPECT_EQ(threads, 2);
}

TEST(Host, runs_its_own_instruction_set) {
  EXPECT_TRUE(host_runs(host_isa()));
  EXPECT_TRUE(host_runs("generic"));
  EXPECT_FALSE(host_runs("pdp-11"));
  EXPECT_TRUE(host_runs(isa_for("native")));
  EXPECT_FALSE(host_runs("native"));  // of which machine?
  EXPECT_FALSE(host_runs("native:00000000"));
  EXPECT_EQ(isa_for(""), host_isa());
  EXPECT_GE(last_level_cache_bytes(), 1 << 16);
}

}  // namespace
}  // namespace schaas::client

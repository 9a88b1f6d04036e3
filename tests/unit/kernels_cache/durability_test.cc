// What reaches the disk before a write is acknowledged. This program's fsync, fdatasync, rename and mkdir
// stand before the C library's, also for SQLite: they note the call and make it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "kernels_cache/binary_store_files.h"
#include "kernels_cache/job_store.h"
#include "kernels_cache/schedule_store_database.h"
#include "tests/support/temporary_directory.h"

namespace {

std::mutex events_mutex;
std::vector<std::string> events;

void note(const std::string& call, const std::string& path) {
  const std::lock_guard lock(events_mutex);
  events.push_back(call + " " + std::filesystem::path(path).filename().string());
}

void note(const std::string& call, int file) {
  char path[4096] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  if (::readlink(link.c_str(), path, sizeof path - 1) > 0) note(call, path);
}

}  // namespace

extern "C" {
int fsync(int file) {
  note("flush", file);
  return static_cast<int>(::syscall(SYS_fsync, file));
}
int fdatasync(int file) {
  note("flush", file);
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
int rename(const char* from, const char* to) noexcept {
  note("rename", to);
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int mkdir(const char* path, mode_t mode) noexcept {
  note("make", path);
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
}

namespace schaas::kernels_cache {
namespace {

/// The calls during `work`, names without their random parts.
template <class Work>
std::vector<std::string> during(const Work& work) {
  events.clear();
  work();
  std::vector<std::string> found = std::move(events);
  for (std::string& event : found) {
    if (const auto temporary = event.find(".incoming-"); temporary != std::string::npos)
      event.resize(temporary + 9);
  }
  return found;
}

std::size_t count_flushes(const std::vector<std::string>& calls, const std::string& file) {
  return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), "flush " + file));
}

TEST(BinaryFiles, AreFlushedWithTheirFolders) {
  const test_support::TemporaryDirectory directory;
  const auto store = open_file_binary_store(directory / "b").value();
  const std::string sha256 = support::digest_of("kernel").sha256, shard = sha256.substr(0, 2);
  EXPECT_THAT(during([&] { ASSERT_TRUE(store->put("kernel").ok()); }),
              testing::ElementsAre("make " + shard, "flush b", "flush .incoming", "rename " + sha256,
                                   "flush " + shard))
      << "the new folder in its parent, the file before its name, the name in its folder";
}

TEST(BinaryFiles, FlushAnExistingFolderAlone) {
  const test_support::TemporaryDirectory directory;
  const auto store = open_file_binary_store(directory / "b").value();
  const std::string sha256 = support::digest_of("kernel").sha256;
  ASSERT_TRUE(store->put("kernel").ok());
  ASSERT_TRUE(store->drop(sha256).ok());
  const auto calls = during([&] { ASSERT_TRUE(store->put("kernel").ok()); });
  EXPECT_EQ(count_flushes(calls, "b"), 0U);
  EXPECT_EQ(count_flushes(calls, sha256.substr(0, 2)), 1U);
}

TEST(JobDatabase, FlushesEachJobBeforeItIsAcknowledged) {
  const test_support::TemporaryDirectory directory;
  const auto store = open_job_store(directory / "jobs.db", system_clock()).value();
  for (int n = 0; n < 3; ++n) {
    const auto calls = during([&] {
      ASSERT_TRUE(store->submit({"key" + std::to_string(n), "c", "", 0, 0, {"{}"}}).ok());
    });
    EXPECT_GE(count_flushes(calls, "jobs.db-wal"), 1U) << n;
  }
}

TEST(ScheduleDatabase, FlushesTheLogBeforeItIsCopiedIntoTheFile) {
  const test_support::TemporaryDirectory directory;
  auto store = open_sqlite_schedule_store(directory / "schedules.db", system_clock()).value();
  FrontierRow row;
  row.key = {"p", "o", 3};
  ASSERT_TRUE(store->put_frontier(row).ok());
  const auto calls = during([&] { store.reset(); });
  EXPECT_GE(count_flushes(calls, "schedules.db-wal"), 1U);
  EXPECT_GE(count_flushes(calls, "schedules.db"), 1U);
}

}  // namespace
}  // namespace schaas::kernels_cache

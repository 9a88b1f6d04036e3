// A restore that ends at any of its renames. This program's rename stands before the C library's and fails
// from a given call on, as if the process had been killed there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "kernels_cache/schedule_store_database.h"
#include "server/storage/backup.h"
#include "server/storage/open_stores.h"
#include "tests/support/temporary_directory.h"

namespace {
int renames_left = 1'000'000;
}

extern "C" int rename(const char* from, const char* to) noexcept {
  if (renames_left-- <= 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace schaas::server {
namespace {

namespace fs = std::filesystem;

class Restore : public testing::Test {
 protected:
  /// Stores one job of that name, one problem of that key, and a binary.
  static void fill(const DataDirectory& directory, const std::string& name) {
    const auto stores = open_stores(directory, silent_log()).value();
    kernels_cache::FrontierRow row;
    row.key = {name, "o", 1};
    ASSERT_TRUE(stores.schedules->put_frontier(row).ok());
    ASSERT_TRUE(stores.binaries->put("binary of " + name).ok());
    const auto jobs = kernels_cache::open_job_store(directory.jobs(), kernels_cache::system_clock()).value();
    ASSERT_TRUE(jobs->submit({name, "me", name, 0, 0, {"{}"}}).ok());
  }
  static std::string content(const DataDirectory& directory) {
    const auto stores = open_stores(directory, silent_log());
    if (!stores.ok()) return support::render(stores.error());
    const auto jobs = kernels_cache::open_job_store(directory.jobs(), kernels_cache::system_clock()).value();
    std::string text;
    for (const auto& problem : *stores->schedules->list()) text += "problem " + problem.problem_key + "; ";
    for (const auto& job : *jobs->jobs(10)) text += "job " + job.label + "; ";
    for (const auto& binary : *stores->binaries->list()) text += *stores->binaries->get(binary.sha256);
    return text;
  }

  void SetUp() override {
    const auto directory = DataDirectory::open(path_).value();
    fill(directory, "old");
    const auto stores = open_stores(directory, silent_log()).value();
    const auto jobs = kernels_cache::open_job_store(directory.jobs(), kernels_cache::system_clock()).value();
    backup_ = back_up(directory, "first", stores, *jobs).value().path;
  }
  void TearDown() override { renames_left = 1'000'000; }

  test_support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "data";
  std::string backup_;
  const std::string old_ = "problem old; job old; binary of old";
};

TEST_F(Restore, IsWholeOrAbsentWhereverItEnds) {
  bool finished = false;
  for (int renames = 0; !finished; ++renames) {
    ASSERT_LT(renames, 30);
    SCOPED_TRACE(std::to_string(renames) + " renames");
    const auto directory = DataDirectory::open(path_).value();
    fs::remove_all(directory.jobs());
    fs::remove_all(directory.database());
    fs::remove_all(directory.binaries());
    fill(directory, "new");
    renames_left = renames;
    finished = restore(directory, backup_).ok();
    renames_left = 1'000'000;
    const std::string found = content(directory);  // as the next start finds it
    if (found != old_) {
      EXPECT_EQ(found, "problem new; job new; binary of new");
      EXPECT_FALSE(finished);
    }
    EXPECT_TRUE(restore(directory, backup_).ok()) << "again";
    EXPECT_EQ(content(directory), old_);
    EXPECT_FALSE(fs::exists(path_ + "/.restored"));
    EXPECT_FALSE(fs::exists(path_ + "/.restored-whole"));
  }
}

TEST_F(Restore, KeepsWhatWasThereBefore) {
  const auto directory = DataDirectory::open(path_).value();
  fs::remove_all(directory.jobs());
  fill(directory, "new");
  renames_left = 3;
  EXPECT_FALSE(restore(directory, backup_).ok());
  renames_left = 1'000'000;
  ASSERT_TRUE(recover(directory).ok());
  const auto jobs =
      kernels_cache::open_job_store(path_ + "/before-restore/jobs.db", kernels_cache::system_clock()).value();
  ASSERT_EQ(jobs->jobs(10)->size(), 1U);
  EXPECT_EQ(jobs->jobs(10)->front().label, "new");
}

TEST_F(Restore, IgnoresACopyThatIsNotWhole) {
  const auto directory = DataDirectory::open(path_).value();
  fs::create_directories(path_ + "/.restored");
  std::ofstream(path_ + "/.restored/jobs.db") << "half";
  EXPECT_EQ(content(directory), old_);
  EXPECT_FALSE(fs::exists(path_ + "/.restored"));
}

TEST_F(Restore, LeavesNoPartialBackup) {
  const auto directory = DataDirectory::open(path_).value();
  fs::create_directories(path_ + "/backups/.killed/binaries");
  ASSERT_TRUE(open_stores(directory, silent_log()).ok());
  EXPECT_FALSE(fs::exists(path_ + "/backups/.killed"));
  EXPECT_TRUE(fs::exists(backup_));
}

}  // namespace
}  // namespace schaas::server

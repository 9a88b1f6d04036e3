// Database files of every released version, damaged ones, full and read-only disks, file systems.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "kernels_cache/file_system.h"
#include "kernels_cache/job_salvage.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/job_store.h"
#include "kernels_cache/schedule_schema.h"
#include "kernels_cache/schedule_store_database.h"
#include "kernels_cache/sqlite.h"
#include "tests/support/temporary_directory.h"

namespace schaas::kernels_cache {
namespace {

const std::string digest(64, 'd');

// A file as the program of that version made it, with one row of each table.
void make_old(const std::string& path, const Schema& newest, std::size_t version,
              const std::vector<const char*>& rows) {
  const Schema then{newest.what, newest.migrations.first(version), newest.durable};
  auto database = open_connection(path, then);
  ASSERT_TRUE(database.ok()) << support::render(database.error());
  for (const char* row : rows) {
    const auto done = Statement(**database, row).run("insert a row");
    ASSERT_TRUE(done.ok()) << support::render(done.error());
  }
}

class OldSchedules : public testing::TestWithParam<std::size_t> {};

TEST_P(OldSchedules, KeepTheirRows) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "schedules.db";
  std::vector<const char*> rows = {
      "INSERT INTO problem(key, canonical, created) VALUES ('p', 'text', '2026-01-01T00:00:00.000Z')",
      "INSERT INTO frontier(problem, options, search_version, complete, schedules, seconds, created, "
      "payload) "
      "VALUES (1, 'o', 3, 1, 2, 0.5, '2026-01-01T00:00:00.000Z', 'kept')",
      "INSERT INTO kernel(key, problem, trace, isa, sha256, bytes, seconds, created) VALUES ('k', 1, "
      "'trace', 'generic', "
      "'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd', 17, 0.25, "
      "'2026-01-01T00:00:00.000Z')"};
  if (GetParam() >= 3)
    rows.push_back(
        "INSERT INTO measurement(problem, host, sizes, threads, isa, trace, code_version, seconds, created) "
        "VALUES (1, 'h', 's', 2, 'generic', 'trace', 9, 0.125, '2026-01-01T00:00:00.000Z')");
  if (GetParam() >= 6)
    rows.push_back(
        "INSERT INTO frontier_use(frontier, used, bytes) VALUES (1, '2026-01-01T00:00:00.000Z', 4)");
  make_old(path, schedule_schema(), GetParam(), rows);
  const auto store = open_sqlite_schedule_store(path, system_clock());
  ASSERT_TRUE(store.ok()) << support::render(store.error());
  const auto frontier = (*store)->frontier({"p", "o", 3});
  ASSERT_TRUE(frontier.ok() && frontier->has_value());
  EXPECT_EQ((*frontier)->payload, "kept");
  EXPECT_EQ((*frontier)->canonical, "text");
  EXPECT_EQ((*frontier)->unconstrained_key, "");
  EXPECT_EQ((*frontier)->asked, "");
  EXPECT_EQ((*store)->statistics()->frontier_bytes, 4u);
  EXPECT_EQ((*store)->drop_frontiers_above(0, system_clock()->now() - std::chrono::minutes(1))->frontiers, 0u)
      << "it was read just now";
  const auto kernel = (*store)->kernel("k");
  ASSERT_TRUE(kernel.ok() && kernel->has_value());
  EXPECT_EQ((*kernel)->digest, (support::Digest{digest, 17}));
  EXPECT_EQ((*kernel)->signature, "");
  const auto measurements = (*store)->measurements_of("p", "h", 9, 10);
  ASSERT_TRUE(measurements.ok());
  EXPECT_EQ(measurements->size(), GetParam() >= 3 ? 1u : 0u);
}

// Rows of this version and later ones have digests, which the store alone makes.
constexpr std::size_t first_with_digests = 8;
INSTANTIATE_TEST_SUITE_P(EveryEarlierVersion, OldSchedules,
                         testing::Range(std::size_t{1}, first_with_digests));

class OldJobs : public testing::TestWithParam<std::size_t> {};

TEST_P(OldJobs, KeepTheirRows) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "jobs.db";
  make_old(path, job_schema(), GetParam(),
           {"INSERT INTO client(name) VALUES ('c')",
            "INSERT INTO job(key, digest, client, label, priority, budget, created) VALUES ('k', 'd', 1, "
            "'l', 5, 0, 't')",
            "INSERT INTO item(job, number, request) VALUES (1, 0, '{}')",
            "INSERT INTO job(key, digest, client, label, priority, budget, created) VALUES ('old', 'd', 1, "
            "'', 0, 0, 't')",
            "INSERT INTO item(job, number, request, state, ended) VALUES (2, 0, '{}', 'done', 7)"});
  const auto store = open_job_store(path, system_clock());
  ASSERT_TRUE(store.ok()) << support::render(store.error());
  const auto job = (*store)->job("j1");
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->label, "l");
  EXPECT_EQ(job->waiting, 1u);
  EXPECT_EQ((*store)->counts()->at(ItemState::waiting), 1u);
  EXPECT_EQ((*store)->job("j2")->done, 1u);
  EXPECT_EQ((*store)->submit({"k", "another", "", 0, 0, {"{}"}}).value(), "j3");
  EXPECT_EQ((*store)->submit({"k", "c", "", 0, 0, {"{}"}}).error().code, "idempotency-key");
  // Numbers that were told of any job are behind.
  ASSERT_TRUE((*store)->cancel("j1").ok());
  EXPECT_GT((*store)->ended("j1", 0, 1)->front().ended, GetParam() == 1 ? 7u : 0u);
}

INSTANTIATE_TEST_SUITE_P(EveryVersion, OldJobs,
                         testing::Range(std::size_t{1}, job_schema().migrations.size() + 1));

class Damaged : public testing::Test {
 protected:
  // Some hundred rows, and a page in the middle of the file overwritten.
  void SetUp() override {
    {
      const auto store = open_sqlite_schedule_store(path_, system_clock()).value();
      for (int n = 0; n < 300; ++n)
        ASSERT_TRUE(store
                        ->put_frontier({{"p" + std::to_string(n), "o", 1},
                                        "text",
                                        std::string(500, 'x'),
                                        true,
                                        1,
                                        0,
                                        "",
                                        "",
                                        ""})
                        .ok());
    }
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 20; page < 30; ++page) {
      file.seekp(page * 4096);
      file << std::string(4096, '\xee');
    }
  }
  test_support::TemporaryDirectory directory_;
  std::string path_ = directory_ / "schedules.db";
};

TEST_F(Damaged, DatabaseIsFoundWhenItIsOpened) {
  const auto store = open_sqlite_schedule_store(path_, system_clock());
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, "damaged-database");
  EXPECT_EQ(store.error().family, support::Family::invalid);
  EXPECT_THAT(
      support::render(store.error()),
      testing::AllOf(
          testing::StartsWith("invalid [damaged-database]: `" + path_ +
                              "` is not a sound schedule database: "),
          testing::EndsWith("\n  note: move the file away; what it held is computed again when asked for")));
}

TEST_F(Damaged, DatabaseIsSetAsideInPlaceOfAnOlderOne) {
  std::ofstream(path_ + ".damaged") << "older";
  ASSERT_TRUE(set_aside(path_).ok());
  EXPECT_NE(::access(path_.c_str(), F_OK), 0);
  struct stat status {};
  ASSERT_EQ(::stat((path_ + ".damaged").c_str(), &status), 0);
  EXPECT_GT(status.st_size, 100'000);
  EXPECT_TRUE(open_sqlite_schedule_store(path_, system_clock()).ok());
}

class DamagedJobs : public testing::Test {
 protected:
  static NewJob job(int n) {
    NewJob job{"key" + std::to_string(n), "client" + std::to_string(n % 3), "label", n % 5, 0.5 * n, {}};
    for (int item = 0; item <= n % 4; ++item)
      job.requests.push_back(std::string(600, static_cast<char>('a' + (n + item) % 26)));
    return job;
  }
  void SetUp() override {
    const auto store = open_job_store(path_, system_clock()).value();
    for (int n = 0; n < jobs_; ++n) ASSERT_TRUE(store->submit(job(n)).ok());
    ASSERT_TRUE(store->claim()->has_value());
  }
  /// Overwrites bytes of the file.
  void overwrite(std::streamoff at, const std::string& bytes) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file << bytes;
  }
  /// Each job that is kept is the one that was submitted: its key and content are taken for the same.
  void check_kept(const SalvagedJobs& salvaged) const {
    const auto store = open_job_store(path_, system_clock());
    ASSERT_TRUE(store.ok()) << support::render(store.error());
    ASSERT_TRUE((*store)->recover().ok());
    const auto rows = *(*store)->jobs(1000);
    EXPECT_EQ(rows.size(), salvaged.kept);
    for (const JobRow& row : rows) {
      const int n = std::stoi(row.id.substr(1)) - 1;
      const auto again = (*store)->submit(job(n));
      ASSERT_TRUE(again.ok()) << support::render(again.error());
      EXPECT_EQ(*again, row.id);
      EXPECT_EQ(row.waiting + row.running + row.done + row.failed + row.cancelled, job(n).requests.size());
    }
    EXPECT_EQ((*store)->submit({"fresh", "c", "", 0, 0, {"x"}}).value().substr(0, 1), "j");
  }
  static constexpr int jobs_ = 60;
  test_support::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "jobs.db";
};

TEST_F(DamagedJobs, AreKeptWhereTheyAreWhole) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  const std::streamoff pages = status.st_size / 4096;
  ASSERT_GT(pages, 20);
  overwrite(pages / 2 * 4096, std::string(4096, '\xee'));
  const auto salvaged = salvage_jobs(path_);
  ASSERT_TRUE(salvaged.ok()) << support::render(salvaged.error());
  EXPECT_GE(salvaged->kept, 45U);
  EXPECT_GE(salvaged->lost, 1U);
  EXPECT_TRUE(std::filesystem::exists(path_ + ".damaged"));
  check_kept(*salvaged);
}

TEST_F(DamagedJobs, AreKeptBeforeAndBehindEachDamagedPage) {
  std::ifstream file(path_, std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto pages = static_cast<int>(sound.size() / 4096);
  int refused = 0;
  std::uint64_t fewest = jobs_;
  for (int page = 1; page < pages; ++page) {
    for (const char* end : {"", "-wal", "-shm", ".damaged"}) ::unlink((path_ + end).c_str());
    std::ofstream(path_, std::ios::binary) << sound;
    overwrite(std::streamoff{page} * 4096, std::string(4096, '\xee'));
    const auto salvaged = salvage_jobs(path_);
    refused += salvaged.ok() ? 0 : 1;
    if (salvaged.ok()) fewest = std::min(fewest, salvaged->kept);
  }
  EXPECT_GE(fewest, 30U) << "of 60, of which a page holds some twenty";
  EXPECT_LE(refused, 4) << "the roots of the tables, and the page of the clients";
}

TEST_F(DamagedJobs, NeverChangeWhereverALetterChanges) {
  std::mt19937_64 random(11);
  std::ifstream file(path_, std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  int kept = 0;
  for (int n = 0; n < 40; ++n) {
    SCOPED_TRACE(n);
    for (const char* end : {"", "-wal", "-shm", ".damaged"}) ::unlink((path_ + end).c_str());
    std::ofstream(path_, std::ios::binary) << sound;
    overwrite(static_cast<std::streamoff>(100 + random() % (sound.size() - 100)),
              std::string(1 + random() % 3, static_cast<char>(random())));
    const auto salvaged = salvage_jobs(path_);
    if (!salvaged.ok()) continue;
    kept += salvaged->kept >= 40 ? 1 : 0;
    check_kept(*salvaged);
  }
  EXPECT_GE(kept, 30);
}

TEST_F(DamagedJobs, AreRefusedUntouchedWhereNoneCanBeRead) {
  overwrite(0, std::string(100'000, 'x'));
  const auto salvaged = salvage_jobs(path_);
  ASSERT_FALSE(salvaged.ok());
  EXPECT_EQ(salvaged.error().code, "damaged-database");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".damaged"));
}

TEST(Transactions, AreRolledBackUnlessCommitted) {
  const test_support::TemporaryDirectory directory;
  static constexpr const char* table[] = {"CREATE TABLE t(x INTEGER NOT NULL) STRICT;"};
  const auto database = open_connection(directory / "t.db", {"test database", table}).value();
  for (const bool committed : {false, true}) {
    {
      Transaction transaction(*database);
      ASSERT_TRUE(transaction.begin("insert a row").ok());
      ASSERT_TRUE(Statement(*database, "INSERT INTO t VALUES (1)").run("insert a row").ok());
      if (committed) {
        ASSERT_TRUE(transaction.commit("insert a row").ok());
      }
    }
    Statement count(*database, "SELECT count(*) FROM t");
    ASSERT_TRUE(count.step("count the rows").ok());
    EXPECT_EQ(count.integer(0), committed ? 1 : 0);
  }
}

TEST(Disks, AreFullAlsoByQuotaAndLimit) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG})
    EXPECT_EQ(support::render(disk_error("write `f`", number).value()),
              "exhausted [disk-full]: cannot write `f`: the disk is full");
  EXPECT_EQ(support::render(disk_error("write `f`", EROFS).value()),
            "exhausted [disk-read-only]: cannot write `f`: the file system is read-only");
  EXPECT_EQ(support::render(disk_error("write `f`", EIO).value()),
            "exhausted [disk-failing]: cannot write `f`: the disk fails");
  EXPECT_FALSE(disk_error("write `f`", ENOENT).has_value());
}

TEST(Disks, HaveARemedyForWhatTheOperatorCanMend) {
  const auto said = [](int number) { return support::render(disk_error("remove `f`", number).value()); };
  for (const int number : {EACCES, EPERM})
    EXPECT_EQ(said(number),
              "exhausted [disk-denied]: cannot remove `f`: the system does not permit it\n"
              "  note: the data directory and all in it must belong to the server's user; see its security "
              "module's log");
  EXPECT_EQ(said(EXDEV),
            "exhausted [disk-split]: cannot remove `f`: it lies on another file system\n"
            "  note: mount one file system for the whole data directory");
  for (const int number : {EMFILE, ENFILE})
    EXPECT_EQ(said(number),
              "exhausted [descriptors]: cannot remove `f`: no file descriptors are left\n"
              "  note: retry in a moment; the operator may raise the limit (LimitNOFILE=, ulimit -n)");
}

// A process writes on into a file that was removed, and what it stores ends with it.
TEST(OpenJobs, AreNotAcknowledgedIntoFilesThatWereRemovedOrReplaced) {
  for (const std::string part : {"", "-wal"}) {
    for (const bool replaced : {false, true}) {
      const test_support::TemporaryDirectory directory;
      const std::string path = directory / "jobs.db";
      const auto store = open_job_store(path, system_clock()).value();
      ASSERT_TRUE(store->submit({"first", "c", "", 0, 0, {"request"}}).ok());
      std::filesystem::rename(path + part, path + part + ".moved");
      if (replaced) std::filesystem::copy_file(path + part + ".moved", path + part);
      const auto refused = store->submit({"second", "c", "", 0, 0, {"request"}});
      ASSERT_FALSE(refused.ok()) << part << replaced;
      EXPECT_EQ(refused.error().code, "file-replaced");
      const auto again = store->submit({"first", "c", "", 0, 0, {"request"}});
      ASSERT_FALSE(again.ok()) << "it was acknowledged before, but would not be there after a restart";
      std::filesystem::rename(path + part + ".moved", path + part);
      EXPECT_TRUE(store->submit({"second", "c", "", 0, 0, {"request"}}).ok()) << "it is back";
    }
  }
}

// On a file system of one mebibyte, where mounting is allowed.
class SmallDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0)
      GTEST_SKIP() << "mounting a small file system is not allowed here";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
  }
  test_support::TemporaryDirectory directory_;
  bool mounted_ = false;
};

TEST_F(SmallDisk, ThatIsFullIsToldAndHoldsNothingHalf) {
  const std::string path = directory_ / "jobs.db";
  std::uint64_t kept = 0;
  {
    const auto store = open_job_store(path, system_clock()).value();
    support::Result<std::string> id = std::string();
    while (id.ok()) {
      id = store->submit({"key" + std::to_string(kept), "c", "", 0, 0, {std::string(20'000, 'r'), "second"}});
      kept += id.ok() ? 1 : 0;
      ASSERT_LT(kept, 100u);
    }
    EXPECT_EQ(support::render(id.error()), "exhausted [disk-full]: cannot store a job: the disk is full");
    EXPECT_GT(kept, 5u);
    const auto counts = store->counts();
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->at(ItemState::waiting), 2 * kept);
  }
  const auto again = open_job_store(path, system_clock());
  ASSERT_TRUE(again.ok()) << support::render(again.error());
  EXPECT_EQ((*again)->counts()->at(ItemState::waiting), 2 * kept);
}

TEST_F(SmallDisk, ThatIsReadOnlyIsTold) {
  const std::string path = directory_ / "jobs.db";
  ASSERT_TRUE((*open_job_store(path, system_clock()))->submit({"key", "c", "", 0, 0, {"one"}}).ok());
  ASSERT_EQ(::mount(nullptr, directory_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto refused = open_job_store(path, system_clock());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()),
            "invalid [data-directory]: cannot open `" + path + "`: the file system is read-only");
  ASSERT_EQ(::mount(nullptr, directory_.path().c_str(), nullptr, MS_REMOUNT, "size=1m"), 0);
  EXPECT_EQ((*open_job_store(path, system_clock()))->jobs(10)->size(), 1u);
}

// As when a disk turns read-only just before a backup opens its file: SQLite does not know the name yet.
TEST_F(SmallDisk, ThatIsReadOnlyIsToldOfWhatWasNeverOpen) {
  ASSERT_EQ(::mount(nullptr, directory_.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const std::string path = directory_ / "copy.db";
  sqlite3* opened = nullptr;
  ASSERT_NE(sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr),
            SQLITE_OK);
  EXPECT_EQ(support::render(storage_error(opened, "back up", path)),
            "exhausted [disk-read-only]: cannot back up: the file system is read-only");
  sqlite3_close(opened);
}

// A commit fails in the write-ahead log, of which SQLite says no more than "disk I/O error": the reason is
// the system's (here EFBIG, which needs no mount; EROFS of a disk that broke comes the same way), and is gone
// when the disk takes again what is written.
TEST(Disks, SayWhyACommitFails) {
  const test_support::TemporaryDirectory directory;
  const auto store = open_job_store(directory / "jobs.db", system_clock()).value();
  ASSERT_TRUE(store->submit({"first", "c", "", 0, 0, {"one"}}).ok());
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const auto refused = store->submit({"second", "c", "", 0, 0, {"one"}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()), "exhausted [disk-full]: cannot store a job: the disk is full");
  EXPECT_TRUE(store->submit({"second", "c", "", 0, 0, {"one"}}).ok());
  EXPECT_EQ(store->jobs(10)->size(), 2u);
}

// Laid over the folder while a backup is under way: its next file cannot be made.
TEST(Disks, SayThatANewFileWouldBeOnAReadOnlyOne) {
  const test_support::TemporaryDirectory directory;
  const std::string closed = directory / "closed";
  ASSERT_EQ(::mkdir(closed.c_str(), 0700), 0);
  const auto store = open_job_store(directory / "jobs.db", system_clock()).value();
  std::string said;
  std::thread([&] {  // mounts of its own
    const bool mounted =
        ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount(closed.c_str(), closed.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
        ::mount("none", closed.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
    if (!mounted) return;
    const auto done = store->back_up(closed + "/copy.db");
    said = done.ok() ? "done" : support::render(done.error());
  })
      .join();
  if (said.empty()) GTEST_SKIP() << "no mounts here";
  EXPECT_EQ(said, "exhausted [disk-read-only]: cannot back up to `" + closed +
                      "/copy.db`: the file system is read-only");
}

TEST(Written, DatabaseIsWaitedFor) {
  const test_support::TemporaryDirectory directory;
  const std::string path = directory / "schedules.db";
  const auto store = open_sqlite_schedule_store(path, system_clock()).value();
  auto other = open_connection(path, schedule_schema()).value();
  Transaction writes(*other);
  ASSERT_TRUE(writes.begin("write").ok());
  std::atomic<bool> stored{false};
  std::thread mine([&] {
    const auto put = store->put_frontier({{"p", "o", 1}, "text", "x", true, 1, 0, "", "", ""});
    EXPECT_TRUE(put.ok()) << support::render(put.error());
    stored = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(stored);
  ASSERT_TRUE(writes.commit("write").ok());
  mine.join();
  EXPECT_TRUE(stored);
}

TEST(FileSystems, OfOtherMachinesAreKnown) {
  EXPECT_EQ(network_file_system({0x6969, "nfs4"}), "NFS");
  EXPECT_EQ(network_file_system({0xffffffffff534d42UL, ""}), "CIFS");  // where the type is signed
  EXPECT_EQ(network_file_system({0x0bd00bd0, ""}), "Lustre");
  EXPECT_EQ(network_file_system({0x01021997, "9p"}), "9P");
  EXPECT_EQ(network_file_system({0xef53, "ext4"}), "");
  EXPECT_EQ(network_file_system({0x01021994, "tmpfs"}), "");
  EXPECT_EQ(network_file_system({0x794c7630, "overlay"}), "");
  EXPECT_TRUE(check_file_system("/tmp").ok());
}

TEST(FileSystems, InUserSpaceAreToldApartByTheirMounts) {
  constexpr unsigned long fuse = 0x65735546;
  for (const std::string name : {"sshfs", "glusterfs", "s3fs", "rclone", "ceph", "ceph-fuse", "gcsfuse"})
    EXPECT_EQ(network_file_system({fuse, "fuse." + name}), name);
  for (const std::string mount : {"fuse.fuse-overlayfs", "fuseblk", "fuse.ntfs-3g", "fuse", "virtiofs", ""})
    EXPECT_EQ(network_file_system({fuse, mount}), "") << mount;
}

TEST(FileSystems, HaveANumberAndAMount) {
  EXPECT_EQ(file_system_of("/proc").type, 0x9fa0u);
  EXPECT_EQ(file_system_of("/proc").mount, "proc");
  EXPECT_EQ(support::render(check_file_system("/proc").error()),
            "invalid [data-directory]: `/proc` keeps no files: it is the system's own (proc)");
}

}  // namespace
}  // namespace schaas::kernels_cache

// Administration: eviction, pins, garbage collection, backup and restore.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "compiler/pipeline/pipeline.h"
#include "kernels_cache/binary_store_memory.h"
#include "kernels_cache/schedule_store_memory.h"
#include "schaas/v1/admin.grpc.pb.h"
#include "server/daemon/daemon.h"
#include "server/storage/backup.h"
#include "server/storage/cache_evictor.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using kernels_cache::Pinned;

class CacheEviction : public testing::Test {
 protected:
  // Stores a kernel of the problem, last used that many minutes ago.
  std::string store(const std::string& problem, std::size_t bytes, int minutes) {
    const std::string content = problem + std::string(bytes - problem.size(), '.');
    const auto digest = binaries_->put(content).value();
    EXPECT_TRUE(schedules_->put_kernel({"k" + problem, problem, "text", "", "isa", digest, 0, "", ""}).ok());
    binaries_->set_used(digest.sha256, kernels_cache::system_clock()->now() - std::chrono::minutes(minutes));
    return digest.sha256;
  }
  CacheEvictor evictor(std::uint64_t bytes) {
    return CacheEvictor(stores_, {bytes, std::chrono::minutes(10)}, silent_log());
  }

  std::shared_ptr<kernels_cache::MemoryBinaryStore> binaries_ =
      std::make_shared<kernels_cache::MemoryBinaryStore>();
  std::shared_ptr<kernels_cache::ScheduleStore> schedules_ =
      kernels_cache::make_memory_schedule_store(kernels_cache::system_clock());
  Stores stores_{schedules_, binaries_};
};

TEST_F(CacheEviction, EvictsLeastRecentlyUsedBinariesWithTheirRows) {
  const auto old = store("old", 1000, 60), older = store("older", 1000, 90),
             recent = store("recent", 1000, 30);
  auto cache = evictor(2500);
  cache.note_stored_binary(0);  // 3000 bytes are there; down to 2250
  EXPECT_FALSE(binaries_->contains(older));
  EXPECT_TRUE(binaries_->contains(old));
  EXPECT_TRUE(binaries_->contains(recent));
  EXPECT_FALSE((*schedules_->kernel("kolder")).has_value());
  EXPECT_TRUE((*schedules_->kernel("kold")).has_value());
}

TEST_F(CacheEviction, KeepsPinnedProblems) {
  const auto old = store("old", 1000, 60), older = store("older", 1000, 90);
  ASSERT_TRUE(*schedules_->set_pin("older", Pinned::yes));
  evictor(1500).note_stored_binary(0);
  EXPECT_TRUE(binaries_->contains(older));
  EXPECT_FALSE(binaries_->contains(old));
  ASSERT_TRUE(*schedules_->set_pin("older", Pinned::no));
  evictor(500).note_stored_binary(0);
  EXPECT_FALSE(binaries_->contains(older));
}

// A client may be about to download a recently used binary.
TEST_F(CacheEviction, KeepsItemsBelowTheMinimumAge) {
  const auto served = store("served", 1000, 0);
  const auto collected = evictor(10).collect();
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(collected->evicted, 0u);
  EXPECT_EQ(collected->left_bytes, 1000u);
  EXPECT_TRUE(binaries_->contains(served));
}

TEST_F(CacheEviction, EvictsNothingWithoutALimit) {
  const auto old = store("old", 1000, 60);
  evictor(0).note_stored_binary(1'000'000);
  EXPECT_TRUE(binaries_->contains(old));
}

TEST_F(CacheEviction, RemovesOrphansRowsWithoutBinaryAndOldFrontiers) {
  const auto kept = store("kept", 1000, 60), lost = store("lost", 500, 60);
  ASSERT_TRUE(binaries_->drop(lost).ok());
  const auto orphan = binaries_->put("an orphan").value().sha256,
             young = binaries_->put("a young one").value().sha256;
  binaries_->set_used(orphan, kernels_cache::system_clock()->now() - std::chrono::hours(1));
  for (const int version : {pipeline::search_version - 1, pipeline::search_version})
    ASSERT_TRUE(
        schedules_->put_frontier({{"kept", "o", version}, "text", "payload", true, 1, 0, "", "", ""}).ok());
  const auto collected = evictor(0).collect();
  ASSERT_TRUE(collected.ok());
  EXPECT_EQ(collected->evicted, 0u);
  EXPECT_EQ(collected->orphans, 1u);
  EXPECT_EQ(collected->rows, 1u);
  EXPECT_EQ(collected->frontiers, 1u);
  EXPECT_EQ(collected->freed_bytes, 9u);
  EXPECT_TRUE(binaries_->contains(kept));
  EXPECT_TRUE(binaries_->contains(young));  // its row may be about to be written
  EXPECT_FALSE(binaries_->contains(orphan));
}

TEST_F(CacheEviction, LimitsTheSizeOfFrontiers) {
  const auto put = [&](const std::string& problem) {
    ASSERT_TRUE(schedules_
                    ->put_frontier({{problem, "o", pipeline::search_version},
                                    "text",
                                    std::string(1000, 'x'),
                                    true,
                                    1,
                                    0,
                                    "",
                                    "",
                                    ""})
                    .ok());
  };
  for (int n = 0; n < 3; ++n) put("p" + std::to_string(n));
  CacheLimits limits;
  limits.frontier_bytes = 3500;
  CacheEvictor in_use(stores_, limits, silent_log());
  put("p3");
  in_use.note_stored_frontier(1000);
  EXPECT_EQ(schedules_->statistics()->frontiers, 4u) << "they were used within the grace";
  limits.min_age = std::chrono::seconds(-1);
  CacheEvictor evictor(stores_, limits, silent_log());
  evictor.note_stored_frontier(0);  // 4000 bytes are there; down to 3150
  EXPECT_EQ(schedules_->statistics()->frontiers, 3u);
  evictor.note_stored_frontier(500);  // 3500 by its own count
  EXPECT_EQ(schedules_->statistics()->frontiers, 3u);
  put("p4");
  ASSERT_TRUE(evictor.collect().ok());
  EXPECT_EQ(schedules_->statistics()->frontiers, 3u);
}

class Admin : public testing::Test {
 protected:
  void start() {
    daemon_.reset();
    DaemonOptions options;
    options.data_directory = data_;
    auto started = Daemon::start(options, silent_log());
    ASSERT_TRUE(started.ok()) << support::render(started.error());
    daemon_ = std::move(started).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
    stub_ = v1::Admin::NewStub(client_->channel());
  }
  test::Refusal back_up(const std::string& name, v1::BackupReply& reply) {
    grpc::ClientContext context;
    v1::BackupRequest request;
    request.set_name(name);
    return test::ServiceClient::refusal_of(stub_->Backup(&context, request, &reply), context);
  }

  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
  std::unique_ptr<v1::Admin::Stub> stub_;
};

TEST_F(Admin, BacksUpWhileServingAndRestores) {
  start();
  const auto answer = client_->schedule(test::request_for());
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  v1::BackupReply reply;
  ASSERT_EQ(back_up("first", reply).status, grpc::StatusCode::OK);
  EXPECT_EQ(reply.path(), data_ + "/backups/first");
  EXPECT_GE(reply.binaries(), 1u);
  v1::BackupReply again;
  EXPECT_EQ(back_up("first", again).text(),
            "INVALID_ARGUMENT invalid [backup-name]: there is a backup `first` already");
  daemon_.reset();

  // Everything is lost, then restored.
  for (const char* part : {"schedules.db", "jobs.db", "signing.key"})
    std::filesystem::remove(data_ + "/" + part);
  std::filesystem::remove_all(data_ + "/binaries");
  {
    auto directory = DataDirectory::open(data_);
    ASSERT_TRUE(directory.ok());
    const auto restored = restore(*directory, reply.path());
    ASSERT_TRUE(restored.ok()) << support::render(restored.error());
  }
  start();
  auto asked = test::request_for();
  const auto found = client_->schedule(asked);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found.done->hit());
  EXPECT_EQ(found.kernels.at(0).signature(), answer.kernels.at(0).signature());
  EXPECT_EQ(client_->download(found.kernels.at(0).digest().sha256()).first.size(),
            found.kernels.at(0).digest().bytes());
}

TEST_F(Admin, RefusesNamesOutsideTheFolder) {
  start();
  for (const std::string name : {"../x", "a/b", ".hidden", "..", "a b"}) {
    v1::BackupReply reply;
    EXPECT_EQ(
        back_up(name, reply).text(),
        "INVALID_ARGUMENT invalid [backup-name]: a backup's name must be 1 to 64 letters, digits, dots, "
        "dashes and underscores, with no dot first");
  }
}

TEST_F(Admin, RefusesToRestoreOtherFolders) {
  auto directory = DataDirectory::open(data_);
  ASSERT_TRUE(directory.ok());
  const std::string folder = directory_ / "empty";
  std::filesystem::create_directory(folder);
  EXPECT_EQ(support::render(restore(*directory, folder).error()),
            "invalid [restore]: `" + folder + "` is no backup: it has no `schedules.db`");
}

TEST_F(Admin, PinsProblemsByKey) {
  start();
  const auto answer = client_->schedule(test::request_for());
  ASSERT_TRUE(answer.ok());
  const auto pin = [&](const std::string& key) {
    grpc::ClientContext context;
    v1::PinRequest request;
    request.set_key(key);
    request.set_pinned(true);
    v1::PinReply reply;
    return test::ServiceClient::refusal_of(stub_->Pin(&context, request, &reply), context).text();
  };
  EXPECT_EQ(pin("nothing"), "NOT_FOUND invalid [not-stored]: nothing is stored under the key nothing");
  EXPECT_EQ(pin(answer.frontier->key()).substr(0, 2), "OK");
  v1::ListCacheReply list;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::ListCache, v1::ListCacheRequest(), list).status,
            grpc::StatusCode::OK);
  ASSERT_EQ(list.entries_size(), 1);
  EXPECT_TRUE(list.entries(0).pinned());
}

}  // namespace
}  // namespace schaas::server

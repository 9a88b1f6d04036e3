// Cached responses equal those made from the stores, whatever happens to the stores.
#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/support/digest.h"
#include "schaas/v1/admin.grpc.pb.h"
#include "server/auth/tokens.h"
#include "server/daemon/daemon.h"
#include "server/rpc/response_cache.h"
#include "server/storage/backup.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas::server {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

class CachedResponses : public testing::Test {
 protected:
  ResponseCache::Response reply(const std::string& problem, std::size_t bytes = 0) {
    return {problem, {std::string(bytes, 'x')}, 0};
  }
  ResponseCache make(std::uint64_t bytes = 100'000) {
    return ResponseCache(changes_, {bytes, std::chrono::seconds(60)}, [this] { return now_; });
  }

  kernels_cache::Changes changes_;
  std::chrono::steady_clock::time_point now_;
};

TEST_F(CachedResponses, HitsOnEqualRequestsOnly) {
  auto replies = make();
  EXPECT_EQ(replies.find("a"), nullptr);
  replies.put("a", reply("p", 3), changes_.now());
  ASSERT_NE(replies.find("a"), nullptr);
  EXPECT_EQ(replies.find("a")->messages.front(), "xxx");
  EXPECT_EQ(replies.find("b"), nullptr);
}

TEST_F(CachedResponses, InvalidatesOnChangesOfTheProblemOrOfAll) {
  auto replies = make();
  for (const char* problem : {"p", "q"}) replies.put(problem, reply(problem), changes_.now());
  changes_.of_problem("p");
  EXPECT_EQ(replies.find("p"), nullptr);
  EXPECT_NE(replies.find("q"), nullptr);
  changes_.of_all();
  EXPECT_EQ(replies.find("q"), nullptr);
  EXPECT_EQ(replies.statistics().responses, 0u) << "what is no longer true takes no memory";
}

// Its rows were read before the change, and it is inserted after it.
TEST_F(CachedResponses, RejectsResponsesReadBeforeAChange) {
  auto replies = make();
  const auto stamp = changes_.now();
  changes_.of_problem("p");
  replies.put("a", reply("p"), stamp);
  EXPECT_EQ(replies.find("a"), nullptr);
}

TEST_F(CachedResponses, ExpiresAfterAMinute) {
  auto replies = make();
  replies.put("a", reply("p"), changes_.now());
  now_ += std::chrono::seconds(59);
  EXPECT_NE(replies.find("a"), nullptr);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(replies.find("a"), nullptr) << "also when it was told meanwhile";
}

TEST_F(CachedResponses, DropsExpiredResponsesWithoutRequests) {
  auto replies = make();
  replies.put("a", reply("p"), changes_.now());
  now_ += std::chrono::seconds(59);
  replies.put("b", reply("p"), changes_.now());
  EXPECT_EQ(replies.statistics().responses, 2u);
  now_ += std::chrono::seconds(1);
  replies.put("c", reply("p"), changes_.now());
  EXPECT_EQ(replies.statistics().responses, 2u) << "a is a minute old";
  EXPECT_NE(replies.find("b"), nullptr);
}

TEST_F(CachedResponses, LimitsItsMemory) {
  auto replies = make(50'000);
  for (int n = 0; n < 8; ++n) replies.put("r" + std::to_string(n), reply("p", 5'000), changes_.now());
  EXPECT_EQ(replies.statistics().responses, 8u);
  EXPECT_NE(replies.find("r0"), nullptr);  // now r1 is the least recently used
  for (int n = 8; n < 10; ++n) replies.put("r" + std::to_string(n), reply("p", 5'000), changes_.now());
  EXPECT_LE(replies.statistics().bytes, 50'000u);
  EXPECT_NE(replies.find("r0"), nullptr);
  EXPECT_EQ(replies.find("r1"), nullptr);
  replies.put("large", reply("p", 7'000), changes_.now());
  EXPECT_EQ(replies.find("large"), nullptr) << "it would drive out an eighth of all";
  auto none = make(0);
  none.put("a", reply("p"), changes_.now());
  EXPECT_EQ(none.find("a"), nullptr);
}

TEST_F(CachedResponses, ReplacesOlderResponses) {
  auto replies = make();
  replies.put("a", reply("p", 1), changes_.now());
  replies.put("a", reply("p", 2), changes_.now());
  EXPECT_EQ(replies.find("a")->messages.front(), "xx");
  EXPECT_EQ(replies.statistics().responses, 1u);
}

TEST_F(CachedResponses, KeepsTheMemoryOfEqualResponses) {
  auto replies = make();
  replies.put("a", reply("p", 3), changes_.now());
  const auto first = replies.find("a");
  now_ += std::chrono::seconds(60);
  EXPECT_EQ(replies.find("a"), nullptr);
  replies.put("a", reply("p", 3), changes_.now());
  EXPECT_EQ(replies.find("a"), first);
  now_ += std::chrono::seconds(59);
  EXPECT_EQ(replies.find("a"), first) << "it is a minute younger";
  now_ += std::chrono::seconds(1);
  replies.put("a", reply("p", 4), changes_.now());
  EXPECT_NE(replies.find("a"), first);
  // An equal response does not become newer than the rows it was made from.
  const auto stamp = changes_.now();
  changes_.of_problem("p");
  replies.put("a", reply("p", 4), stamp);
  EXPECT_EQ(replies.find("a"), nullptr);
}

/// Compiles, unless kernels are set to fail their trials.
class Rejecting final : public KernelProvider {
 public:
  Rejecting(std::unique_ptr<KernelProvider> next, const std::atomic<bool>& rejects)
      : next_(std::move(next)), rejects_(rejects) {}
  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    return next_->frontier(query, progress, cancellation);
  }
  support::Result<KernelAnswer> kernel(const KernelQuery& query,
                                       const support::Cancellation& cancellation) override {
    if (rejects_) return support::internal("kernel-rejected", "it failed its trial");
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  const std::atomic<bool>& rejects_;
};

class DaemonResponses : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void TearDown() override { daemon_.reset(); }
  void start(std::uint64_t reply_bytes = 1 << 20, const std::string& tokens = "") {
    DaemonOptions options;
    options.data_directory = data_;
    options.tokens = tokens;
    if (!tokens.empty()) options.socket_mode = 0660;  // requests through it need a token
    options.response_cache.bytes = reply_bytes;
    options.cache.min_age = std::chrono::seconds(0);
    options.wrap_compiling = [this](std::unique_ptr<KernelProvider> next) {
      return std::make_unique<Rejecting>(std::move(next), rejects_);
    };
    auto started = Daemon::start(options, std::make_shared<spdlog::logger>("test", logged_));
    ASSERT_TRUE(started.ok()) << support::render(started.error());
    daemon_ = std::move(started).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
  }
  static v1::ScheduleRequest product(const std::string& result = "y") {
    v1::ScheduleRequest request;
    request.mutable_problem()->set_expression(result + "(i) = B(i,j) * x(j)");
    (*request.mutable_problem()->mutable_formats())["B"] = "csr";
    (*request.mutable_problem()->mutable_formats())["x"] = "dense";
    request.set_isa("x86-64-v2");
    request.set_kernels(1);
    request.set_host("an abacus");
    return request;
  }
  test::Scheduled must(const v1::ScheduleRequest& request) {
    auto answer = client_->schedule(request);
    EXPECT_TRUE(answer.ok()) << answer.refusal.text();
    return answer;
  }
  // Stored and sent once from the stores, so that the next answer comes from the cache.
  test::Scheduled warm(const v1::ScheduleRequest& request) {
    must(request);
    auto answer = must(request);
    EXPECT_TRUE(answer.done && answer.done->hit());
    EXPECT_EQ(told_from_memory(), 0u);
    return answer;
  }
  // Schedule requests; counts those of earlier daemons too.
  std::size_t told_from_memory() {
    const auto lines = logged_->last_formatted();
    return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("cached=1") != std::string::npos;
    }));
  }
  void report(double seconds) {
    v1::ReportRequest request;
    *request.mutable_problem() = product().problem();
    request.set_host("an abacus");
    auto& one = *request.add_measurements();
    one.set_trace("linear");
    one.set_sizes("large");
    one.set_threads(2);
    one.set_isa("x86-64-v2");
    one.set_seconds(seconds);
    v1::ReportReply reply;
    EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Report, request, reply).status, grpc::StatusCode::OK);
  }

  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  // Read while the daemon writes.
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> logged_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(10'000);
  std::atomic<bool> rejects_{false};
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
};

TEST_F(DaemonResponses, EqualsTheStores) {
  const auto from_stores = warm(product());
  for (int n = 0; n < 3; ++n) {
    const auto kept = must(product());
    EXPECT_TRUE(MessageDifferencer::Equals(*kept.frontier, *from_stores.frontier));
    ASSERT_EQ(kept.kernels.size(), 1u);
    EXPECT_TRUE(MessageDifferencer::Equals(kept.kernels.front(), from_stores.kernels.front()));
    EXPECT_TRUE(kept.done->hit());
    EXPECT_EQ(kept.done->compiled(), 0u);
    EXPECT_LT(kept.done->seconds(), 10);
    EXPECT_EQ(kept.progress + kept.baselines.size() + kept.failures.size(), 0u);
  }
  EXPECT_EQ(told_from_memory(), 3u);
}

TEST_F(DaemonResponses, ServesLookups) {
  must(product());
  v1::LookupRequest request;
  *request.mutable_problem() = product().problem();
  v1::Frontier from_stores, kept;
  ASSERT_EQ(client_->call(&v1::Scheduler::Stub::Lookup, request, from_stores).status, grpc::StatusCode::OK);
  ASSERT_EQ(client_->call(&v1::Scheduler::Stub::Lookup, request, kept).status, grpc::StatusCode::OK);
  EXPECT_EQ(told_from_memory(), 1u);
  EXPECT_TRUE(MessageDifferencer::Equals(kept, from_stores));
  EXPECT_GE(kept.entries_size(), 1);
}

// The same problem, so the same rows; but names are part of an answer.
TEST_F(DaemonResponses, SeparatesNames) {
  warm(product());
  const auto other = must(product("z"));
  EXPECT_EQ(told_from_memory(), 0u);
  EXPECT_THAT(other.frontier->statement(), HasSubstr("z(i)"));
  EXPECT_THAT(must(product()).frontier->statement(), HasSubstr("y(i)"));
}

TEST_F(DaemonResponses, IsBypassedOnDemand) {
  warm(product());
  auto request = product();
  request.set_no_cache(true);
  EXPECT_GE(must(request).done->compiled(), 1u);
  EXPECT_EQ(told_from_memory(), 0u);
}

TEST_F(DaemonResponses, IncludesAMeasurementOnceReported) {
  EXPECT_EQ(warm(product()).frontier->measurements_size(), 0);
  for (const double seconds : {0.5, 0.25}) {
    report(seconds);
    const auto answer = must(product());
    ASSERT_EQ(answer.frontier->measurements_size(), 1);
    EXPECT_EQ(answer.frontier->measurements(0).seconds(), seconds);
    EXPECT_EQ(must(product()).frontier->measurements(0).seconds(), seconds);
  }
  EXPECT_EQ(told_from_memory(), 2u);
}

TEST_F(DaemonResponses, InvalidatesWhenAKernelIsQuarantined) {
  const auto before = warm(product());
  auto anew = product();
  anew.set_no_cache(true);
  rejects_ = true;
  EXPECT_THAT(client_->schedule(anew).refusal.text(), HasSubstr("INTERNAL"));
  EXPECT_THAT(client_->schedule(product()).refusal.text(), HasSubstr("INTERNAL"))
      << "the stored twin of a wrong kernel is served";
  rejects_ = false;
  EXPECT_EQ(must(product()).done->compiled(), 1u);
  EXPECT_EQ(told_from_memory(), 0u);
}

TEST_F(DaemonResponses, InvalidatesWhenAKernelIsEvicted) {
  const auto before = warm(product());
  const std::string sha256 = before.kernels.front().digest().sha256();
  std::filesystem::remove(data_ + "/binaries/" + sha256.substr(0, 2) + "/" + sha256);
  grpc::ClientContext context;
  v1::CollectReply collected;
  ASSERT_TRUE(
      v1::Admin::NewStub(client_->channel())->Collect(&context, v1::CollectRequest(), &collected).ok());
  EXPECT_EQ(must(product()).done->compiled(), 1u);
  EXPECT_FALSE(client_->download(sha256).first.empty());
}

// The file of a binary is removed. A client that was sent its digest finds nothing and requests the schedule
// again.
TEST_F(DaemonResponses, InvalidatesWhenABinaryIsMissing) {
  const auto before = warm(product());
  const std::string sha256 = before.kernels.front().digest().sha256();
  std::filesystem::remove(data_ + "/binaries/" + sha256.substr(0, 2) + "/" + sha256);
  EXPECT_EQ(must(product()).kernels.front().digest().sha256(), sha256);
  EXPECT_EQ(client_->download(sha256).second.status, grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(must(product()).done->compiled(), 1u);
  EXPECT_FALSE(client_->download(sha256).first.empty());
}

TEST_F(DaemonResponses, ServesTheRestoredBackup) {
  warm(product());
  report(0.5);
  grpc::ClientContext context;
  v1::BackupRequest request;
  request.set_name("b");
  v1::BackupReply backup;
  ASSERT_TRUE(v1::Admin::NewStub(client_->channel())->Backup(&context, request, &backup).ok());
  report(0.25);
  EXPECT_EQ(must(product()).frontier->measurements(0).seconds(), 0.25);
  daemon_.reset();
  {
    auto directory = DataDirectory::open(data_);
    ASSERT_TRUE(directory.ok());
    const auto restored = restore(*directory, backup.path());
    ASSERT_TRUE(restored.ok()) << support::render(restored.error());
  }
  start();
  for (int n = 0; n < 2; ++n) EXPECT_EQ(must(product()).frontier->measurements(0).seconds(), 0.5);
}

TEST_F(DaemonResponses, IsOffWithoutMemory) {
  daemon_.reset();
  start(0);
  warm(product());
  EXPECT_TRUE(must(product()).done->hit());
  EXPECT_EQ(told_from_memory(), 0u);
}

// Requests are authorised before the cache is searched.
TEST_F(DaemonResponses, ServesAuthorisedRequestsOnly) {
  const std::string worker = make_token(), reader = make_token();
  const std::string tokens = directory_ / "tokens";
  std::ofstream(tokens) << "worker " << support::digest_of(worker).sha256 << " scopes=schedule,read\n"
                        << "reader " << support::digest_of(reader).sha256 << " scopes=read\n";
  std::filesystem::permissions(tokens, std::filesystem::perms::owner_read);
  daemon_.reset();
  start(1 << 20, tokens);
  const auto ask = [&](const std::string& token) {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    const auto reading = client_->stub().Schedule(&context, product());
    for (v1::ScheduleEvent event; reading->Read(&event);) {
    }
    return reading->Finish().error_code();
  };
  for (int n = 0; n < 3; ++n) EXPECT_EQ(ask(worker), grpc::StatusCode::OK);
  EXPECT_EQ(told_from_memory(), 1u);
  EXPECT_EQ(ask(reader), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(ask(make_token()), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(ask(""), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(told_from_memory(), 1u);
}

// An acknowledged measurement is in every later answer, whatever the number of concurrent requests.
TEST_F(DaemonResponses, NeverLagsBehindAcknowledgedWrites) {
  warm(product());
  report(1);
  std::atomic<int> acknowledged{1};
  std::atomic<bool> over{false};
  std::atomic<int> asked{0};
  std::vector<std::thread> askers;
  for (int t = 0; t < 3; ++t) {
    askers.emplace_back([&] {
      test::ServiceClient client(daemon_->addresses().front());
      while (!over) {
        const int least = acknowledged;
        const auto answer = client.schedule(product());
        ASSERT_TRUE(answer.ok()) << answer.refusal.text();
        ASSERT_EQ(answer.frontier->measurements_size(), 1);
        ASSERT_GE(answer.frontier->measurements(0).seconds(), least);
        ++asked;
      }
    });
  }
  for (int round = 2; round <= 60; ++round) {
    report(round);
    acknowledged = round;
    for (const int until = asked + 5; asked < until;)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  over = true;
  for (auto& asker : askers) asker.join();
  EXPECT_GT(told_from_memory(), 0u);
}

}  // namespace
}  // namespace schaas::server

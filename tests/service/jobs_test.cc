// Offline precomputation over the wire: an accepted job is done, whatever happens to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "compiler/support/digest.h"
#include "kernels_cache/job_schema.h"
#include "kernels_cache/sqlite.h"
#include "schaas/connection.h"
#include "schaas/v1/jobs.grpc.pb.h"
#include "server/daemon/daemon.h"
#include "server/rpc/status_code.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using support::Cancellation;
using support::Result;
using test::request_for;

struct Holding {
  std::atomic<bool> hold{false};  ///< searches last until cancelled
  std::atomic<int> searches{0}, cancelled{0};
  std::atomic<int> full{0};  ///< number of compilations that fail with a full disk
};

class HoldingProvider final : public server::KernelProvider {
 public:
  HoldingProvider(std::unique_ptr<KernelProvider> next, std::shared_ptr<Holding> holding)
      : next_(std::move(next)), holding_(std::move(holding)) {}
  Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                          const frontier::Progress& progress,
                                          const Cancellation& cancellation) override {
    ++holding_->searches;
    while (holding_->hold) {
      if (auto state = cancellation.check("a long search"); !state.ok()) {
        ++holding_->cancelled;
        return state.error();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return next_->frontier(query, progress, cancellation);
  }
  Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                      const Cancellation& cancellation) override {
    if (holding_->full > 0) {
      --holding_->full;
      return support::exhausted("disk-full",
                                "no kernel can be compiled: the disk of temporary files is full");
    }
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  std::shared_ptr<Holding> holding_;
};

class JobsOverTheWire : public testing::Test {
 protected:
  void SetUp() override { start(); }
  void start() {
    stub_.reset();
    client_.reset();
    daemon_.reset();
    server::DaemonOptions options = options_;
    options.data_directory = directory_ / "data";
    options.drain = std::chrono::seconds(5);
    options.partial_search_delay = std::chrono::hours(1);
    options.wrap_compiling = [holding = holding_](std::unique_ptr<server::KernelProvider> next) {
      return std::make_unique<HoldingProvider>(std::move(next), holding);
    };
    auto daemon = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
    stub_ = v1::Jobs::NewStub(client_->channel());
  }

  v1::SubmitJobRequest job(const std::string& key, const std::vector<std::string>& expressions) {
    v1::SubmitJobRequest submission;
    submission.set_idempotency_key(key);
    submission.set_client("me");
    submission.set_label("a model");
    for (const auto& expression : expressions) *submission.add_requests() = request_for(expression);
    return submission;
  }
  test::Refusal submit(const v1::SubmitJobRequest& submission, v1::Job& reply) {
    grpc::ClientContext context;
    return test::ServiceClient::refusal_of(stub_->Submit(&context, submission, &reply), context);
  }
  v1::Job must_submit(const v1::SubmitJobRequest& submission) {
    v1::Job reply;
    const auto refusal = submit(submission, reply);
    EXPECT_EQ(refusal.status, grpc::StatusCode::OK) << refusal.text();
    return reply;
  }
  v1::Job must_cancel(const std::string& id) {
    v1::JobRequest which;
    which.set_id(id);
    v1::Job reply;
    grpc::ClientContext context;
    const auto status = stub_->Cancel(&context, which, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  grpc::Status retry(grpc::ClientContext& context, const std::string& id) {
    v1::JobRequest which;
    which.set_id(id);
    v1::Job reply;
    return stub_->Retry(&context, which, &reply);
  }
  /// Returns the events of a job until it has ended, "number state", and the job at last.
  std::pair<std::vector<std::string>, v1::Job> watch(const std::string& id, std::uint64_t after = 0) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(2));
    v1::WatchJobRequest request;
    request.set_id(id);
    request.set_after(after);
    const auto reader = stub_->Watch(&context, request);
    std::pair<std::vector<std::string>, v1::Job> out;
    for (v1::JobEvent event; reader->Read(&event);) {
      if (event.has_job()) out.second = event.job();
      if (!event.has_item()) continue;
      out.first.push_back(std::to_string(event.item().number()) + " " + event.item().state());
      last_item_ = event.item();
    }
    const auto status = reader->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return out;
  }
  client::Connection connect(client::ConnectOptions options = {}) {
    options.server = daemon_->addresses().front();
    return client::Connection::open(options).value();
  }
  void wait_for_search(int searches) {
    for (int n = 0; n < 10'000 && holding_->searches < searches; ++n)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(holding_->searches, searches);
  }

  test_support::TemporaryDirectory directory_;
  server::DaemonOptions options_;
  std::shared_ptr<Holding> holding_ = std::make_shared<Holding>();
  std::unique_ptr<server::Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
  std::unique_ptr<v1::Jobs::Stub> stub_;
  v1::JobItem last_item_;
};

constexpr const char* spmm = "A(i,k) = B(i,j) * C(j,k)";
constexpr const char* spmv = "a(i) = B(i,j) * c(j)";

TEST_F(JobsOverTheWire, StoreTheAnswersOfAllTheirRequests) {
  const v1::Job accepted = must_submit(job("k", {spmm, spmv, spmm}));
  EXPECT_EQ(accepted.id(), "j1");
  EXPECT_EQ(accepted.label(), "a model");
  const auto [items, ended] = watch(accepted.id());
  EXPECT_THAT(items, testing::ElementsAre("0 done", "1 done", "2 done"));
  EXPECT_EQ(last_item_.expression(), spmm);
  EXPECT_EQ(ended.done(), 3u);
  EXPECT_EQ(ended.waiting() + ended.running() + ended.failed() + ended.cancelled(), 0u);
  EXPECT_GT(ended.seconds(), 0);
  EXPECT_TRUE(client_->schedule(request_for(spmm)).done->hit());
  EXPECT_TRUE(client_->schedule(request_for(spmv)).done->hit());
  EXPECT_EQ(holding_->searches, 2);
  // A disconnected watcher resumes with the remaining events.
  EXPECT_THAT(watch(accepted.id(), last_item_.ended() - 1).first, testing::ElementsAre("2 done"));
  // A job submitted again is the same job; no item is done twice.
  EXPECT_EQ(must_submit(job("k", {spmm, spmv, spmm})).done(), 3u);
  grpc::ClientContext context;
  v1::ListJobsReply list;
  EXPECT_TRUE(stub_->List(&context, {}, &list).ok());
  ASSERT_EQ(list.jobs_size(), 1);
  EXPECT_EQ(list.jobs(0).SerializeAsString(), ended.SerializeAsString());
}

TEST_F(JobsOverTheWire, ResumeAfterARestart) {
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm, spmv}));
  wait_for_search(1);
  daemon_->stop();
  EXPECT_EQ(holding_->cancelled, 1);
  holding_->hold = false;
  start();
  const auto [items, ended] = watch(accepted.id());
  EXPECT_THAT(items, testing::ElementsAre("0 done", "1 done"));
  EXPECT_EQ(ended.done(), 2u);
}

TEST_F(JobsOverTheWire, CancelTheRunningItem) {
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm, spmv}));
  wait_for_search(1);
  EXPECT_EQ(must_cancel(accepted.id()).cancelled(), 2u);
  for (int n = 0; n < 10'000 && holding_->cancelled == 0; ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(holding_->cancelled, 1);
  EXPECT_THAT(watch(accepted.id()).first, testing::ElementsAre("0 cancelled", "1 cancelled"));
  holding_->hold = false;
  grpc::ClientContext context;
  EXPECT_TRUE(retry(context, accepted.id()).ok());
  EXPECT_THAT(watch(accepted.id()).first, testing::ElementsAre("0 done", "1 done"));
}

// A client that reads several items of an event gets what ended meanwhile in one, and less than gRPC allows.
TEST_F(JobsOverTheWire, TellSeveralEndsTogetherWhereTheClientReadsThem) {
  const std::string long_statement =
      "A(i,k) = B(i,j) * " + std::string(60, 'C') + "(j,k) * " + std::string(60, 'D') + "(k)";
  const auto events = [&](const std::string& id, bool together, std::uint64_t after) {
    grpc::ClientContext context;
    v1::WatchJobRequest request;
    request.set_id(id);
    request.set_together(together);
    request.set_after(after);
    const auto reader = stub_->Watch(&context, request);
    std::vector<std::vector<std::uint64_t>> numbers;
    for (v1::JobEvent event; reader->Read(&event);) {
      if (event.has_item()) numbers.push_back({event.item().number()});
      if (event.items().items().empty()) continue;
      EXPECT_LT(event.ByteSizeLong(), std::size_t{300} << 10);
      numbers.emplace_back();
      for (const auto& item : event.items().items()) numbers.back().push_back(item.number());
    }
    EXPECT_TRUE(reader->Finish().ok());
    return numbers;
  };
  using Numbers = std::vector<std::vector<std::uint64_t>>;
  holding_->hold = true;
  const v1::Job few = must_submit(job("few", {spmm, spmv, spmm}));
  const v1::Job many = must_submit(job("many", std::vector<std::string>(2000, long_statement)));
  for (const auto& id : {few.id(), many.id()}) must_cancel(id);
  EXPECT_EQ(events(few.id(), true, 0), (Numbers{{0, 1, 2}}));
  EXPECT_EQ(events(few.id(), true, 1), (Numbers{{1, 2}}));
  EXPECT_EQ(events(few.id(), false, 0), (Numbers{{0}, {1}, {2}}));
  const Numbers parts = events(many.id(), true, 0);
  EXPECT_GT(parts.size(), 1u);
  std::uint64_t next = 0;
  for (const auto& part : parts)
    for (const std::uint64_t number : part) EXPECT_EQ(number, next++);
  EXPECT_EQ(next, 2000u);
  holding_->hold = false;
}

TEST_F(JobsOverTheWire, AreRefusedWhileTooManyWait) {
  options_.jobs.waiting = 2;
  start();
  holding_->hold = true;
  must_submit(job("a", {spmm}));
  wait_for_search(1);
  const v1::Job waiting = must_submit(job("b", {spmm, spmv}));
  grpc::ClientContext context;
  v1::Job reply;
  const auto refusal =
      test::ServiceClient::refusal_of(stub_->Submit(&context, job("c", {spmm}), &reply), context);
  EXPECT_THAT(refusal.text(), testing::HasSubstr("RESOURCE_EXHAUSTED exhausted [jobs-full]"));
  EXPECT_EQ(context.GetServerTrailingMetadata().count(server::retry_metadata), 1u);
  EXPECT_EQ(must_submit(job("b", {spmm, spmv})).id(), waiting.id());
  holding_->hold = false;
}

TEST_F(JobsOverTheWire, AreRetriedOnlyWithinTheLimits) {
  options_.jobs.waiting = 2;
  start();
  holding_->hold = true;
  const v1::Job ended = must_submit(job("a", {spmm, spmv}));
  wait_for_search(1);
  must_cancel(ended.id());
  const v1::Job other = must_submit(job("b", {spmm, spmv}));
  wait_for_search(2);
  {
    grpc::ClientContext context;
    const auto refusal = test::ServiceClient::refusal_of(retry(context, ended.id()), context);
    EXPECT_THAT(refusal.text(), testing::HasSubstr("RESOURCE_EXHAUSTED exhausted [jobs-full]"));
    EXPECT_EQ(context.GetServerTrailingMetadata().count(server::retry_metadata), 1u);
  }
  holding_->hold = false;
  watch(other.id());
  grpc::ClientContext context;
  EXPECT_TRUE(retry(context, ended.id()).ok());
  EXPECT_EQ(watch(ended.id()).second.done(), 2u);
}

TEST_F(JobsOverTheWire, ArePurgedLongAfterTheirEnd) {
  for (const char* key : {"old", "young"}) watch(must_submit(job(key, {spmm})).id());
  daemon_.reset();
  {
    const auto database =
        kernels_cache::open_connection(directory_ / "data/jobs.db", kernels_cache::job_schema()).value();
    kernels_cache::Statement old(*database,
                                 "UPDATE job SET changed = '2020-01-01T00:00:00.000Z' WHERE key = 'old'");
    ASSERT_TRUE(old.run("make a job old").ok());
  }
  start();
  v1::ListJobsReply list;
  for (int n = 0; n < 10'000 && list.jobs_size() != 1; ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    grpc::ClientContext context;
    ASSERT_TRUE(stub_->List(&context, {}, &list).ok());
  }
  ASSERT_EQ(list.jobs_size(), 1);
  EXPECT_EQ(list.jobs(0).id(), "j2");
}

// The server's start leaves nothing of the old one but its database.
TEST_F(JobsOverTheWire, AreWatchedAcrossARestartOfTheServer) {
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm, spmv}));
  wait_for_search(1);
  client::Connection connection = connect();
  std::vector<std::uint64_t> ended;
  std::atomic<int> heard{0}, cut_off{0};
  client::JobListener listener;
  listener.item = [&](const client::JobItem& item) {
    ended.push_back(item.number);
    return true;
  };
  listener.job = [&](const client::Job&) { return ++heard > 0; };
  listener.away = [&](const support::Diagnostic&, double) { ++cut_off; };
  std::thread watching([&] {
    const auto last = connection.watch(accepted.id(), 0, listener);
    ASSERT_TRUE(last.ok()) << support::render(last.error());
    EXPECT_EQ(last->done, 2u);
  });
  while (heard == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  daemon_->stop();
  while (cut_off == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  holding_->hold = false;
  start();
  watching.join();
  EXPECT_THAT(ended, testing::ElementsAre(0, 1));
}

TEST_F(JobsOverTheWire, AreWatchedForLongerThanACallMayTake) {
  options_.max_request_time = std::chrono::seconds(1);
  start();
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm}));
  client::Connection connection = connect();
  std::vector<std::string> why;
  client::JobListener listener;
  listener.away = [&](const support::Diagnostic& error, double) {
    why.push_back(error.code);
    holding_->hold = why.size() < 2;
  };
  const auto last = connection.watch(accepted.id(), 0, listener);
  ASSERT_TRUE(last.ok()) << support::render(last.error());
  EXPECT_EQ(last->done, 1u);
  EXPECT_GE(why.size(), 2u);  // more where the search takes over a second on a busy machine
  EXPECT_THAT(why, testing::Each("deadline"));
}

TEST_F(JobsOverTheWire, EndTheirWatchesWhenTheServerStaysAway) {
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm}));
  client::ConnectOptions options;
  options.away_limit = std::chrono::seconds(3);
  client::Connection connection = connect(options);
  std::thread stopping;
  client::JobListener listener;
  listener.job = [&](const client::Job&) {
    if (!stopping.joinable()) stopping = std::thread([&] { daemon_->stop(); });
    return true;
  };
  const auto last = connection.watch(accepted.id(), 0, listener);
  stopping.join();
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.error().code, "server-down");
  EXPECT_THAT(
      last.error().notes,
      testing::Contains("after 3 s this was given up; the server keeps the job j1: it can be watched again"));
}

TEST_F(JobsOverTheWire, EndTheWatchOfAWithdrawnToken) {
  const std::string tokens = directory_ / "tokens";
  const auto allow = [&](const std::string& token) {
    std::ofstream(tokens) << "me " << support::digest_of(token).sha256 << " scopes=read,precompute\n";
  };
  allow("old");
  options_.tokens = tokens;
  options_.socket_mode = 0660;
  start();
  holding_->hold = true;
  grpc::ClientContext submission, watching;
  for (auto* context : {&submission, &watching}) context->AddMetadata("authorization", "Bearer old");
  v1::Job accepted;
  ASSERT_TRUE(stub_->Submit(&submission, job("k", {spmm}), &accepted).ok());
  v1::WatchJobRequest request;
  request.set_id(accepted.id());
  const auto reader = stub_->Watch(&watching, request);
  v1::JobEvent event;
  ASSERT_TRUE(reader->Read(&event));
  allow("new");
  ASSERT_TRUE(daemon_->reload().ok());
  const auto begin = std::chrono::steady_clock::now();
  while (reader->Read(&event)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  holding_->hold = false;
}

TEST_F(JobsOverTheWire, AreNotWatchedWhenUnknown) {
  const auto refused = connect().watch("j7", 0, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(support::render(refused.error()), "invalid [unknown-job]: there is no job `j7`");
}

TEST_F(JobsOverTheWire, BoundTheirWatchers) {
  options_.threads = 8;
  start();
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm}));
  v1::WatchJobRequest request;
  request.set_id(accepted.id());
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::JobEvent>>> readers;
  v1::JobEvent event;
  for (int n = 0; n < 2; ++n) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->Watch(contexts.back().get(), request));
    ASSERT_TRUE(readers.back()->Read(&event));
  }
  {
    grpc::ClientContext context;
    const auto refusal = test::ServiceClient::refusal_of(stub_->Watch(&context, request)->Finish(), context);
    EXPECT_EQ(refusal.text(),
              "RESOURCE_EXHAUSTED exhausted [overloaded]: 2 jobs are being watched, which is the limit");
    EXPECT_EQ(context.GetServerTrailingMetadata().count(server::retry_metadata), 1u);
  }
  // A waiting watcher is admitted when another has left.
  client::Connection connection = connect();
  client::JobListener listener;
  std::atomic<int> refused{0};
  listener.away = [&](const support::Diagnostic& why, double) {
    EXPECT_EQ(why.code, "overloaded");
    if (++refused > 1) return;
    contexts.front()->TryCancel();
    readers.front()->Finish();
    holding_->hold = false;
  };
  const auto last = connection.watch(accepted.id(), 0, listener);
  ASSERT_TRUE(last.ok()) << support::render(last.error());
  EXPECT_EQ(last->done, 1u);
  EXPECT_GE(refused, 1);
  while (readers.back()->Read(&event)) {
  }
  EXPECT_TRUE(readers.back()->Finish().ok());
}

TEST_F(JobsOverTheWire, BindTheirKeysToTheirContent) {
  must_submit(job("k", {spmm}));
  v1::Job reply;
  EXPECT_EQ(submit(job("k", {spmv}), reply).text(),
            "INVALID_ARGUMENT invalid [idempotency-key]: the key `k` was used for another job, j1");
  auto other = job("k", {spmv});
  other.set_client("you");
  EXPECT_EQ(must_submit(other).id(), "j2") << "keys belong to clients";
}

// One thread serves all jobs.
TEST_F(JobsOverTheWire, EndItemsAtTheTimeLimit) {
  options_.max_item_time = std::chrono::seconds(1);
  start();
  holding_->hold = true;
  const v1::Job accepted = must_submit(job("k", {spmm}));
  EXPECT_THAT(watch(accepted.id()).first, testing::ElementsAre("0 failed"));
  EXPECT_EQ(last_item_.error(), "exhausted [deadline]: it took more than 1 s");
  EXPECT_GE(last_item_.seconds(), 1);
  EXPECT_EQ(holding_->cancelled, 1);
}

TEST_F(JobsOverTheWire, EndTheRunningItemWhenTheBudgetIsSpent) {
  holding_->hold = true;
  auto submission = job("k", {spmm, spmv});
  submission.set_budget_seconds(0.25);
  const v1::Job accepted = must_submit(submission);
  EXPECT_THAT(watch(accepted.id()).first, testing::ElementsAre("0 failed", "1 failed"));
  EXPECT_EQ(last_item_.error(), "the budget of 0.25 s is spent");
  EXPECT_EQ(holding_->searches, 1);
  EXPECT_EQ(holding_->cancelled, 1);
}

TEST_F(JobsOverTheWire, YieldToInteractiveRequests) {
  holding_->hold = true;
  must_submit(job("k", {spmm}));
  wait_for_search(1);
  holding_->hold = false;
  EXPECT_TRUE(client_->schedule(request_for(spmv)).ok());
}

TEST_F(JobsOverTheWire, ReportFailedItemsAndContinue) {
  auto submission = job("k", {spmm, spmv});
  submission.mutable_requests(0)->add_traces("s99");  // known to be wrong only when the frontier is
  submission.mutable_requests(0)->set_traces_only(true);
  const auto [items, ended] = watch(must_submit(submission).id());
  EXPECT_THAT(items, testing::ElementsAre("0 failed", "1 done"));
  EXPECT_EQ(ended.failed(), 1u);
}

// Regression, found by killing servers and filling disks at random: a full disk failed the item for good.
TEST_F(JobsOverTheWire, BackOffWhileTheDiskIsFull) {
  holding_->full = 1;
  const v1::Job accepted = must_submit(job("k", {spmm, spmv}));
  auto [items, ended] = watch(accepted.id());
  std::sort(items.begin(), items.end());
  EXPECT_THAT(items, testing::ElementsAre("0 done", "1 done"));
  EXPECT_EQ(holding_->full, 0);
  EXPECT_EQ(client_->schedule(request_for(spmm)).done->compiled(), 0u);
  EXPECT_EQ(client_->schedule(request_for(spmv)).done->compiled(), 0u);
}

// One of two kernels: the item is not done.
TEST_F(JobsOverTheWire, BackOffUntilEachKernelFits) {
  auto submission = job("k", {"A(i,l) = B(i,j) * C(j,k) * D(k,l)"});
  submission.mutable_requests(0)->set_kernels(2);
  holding_->full = 1;
  const auto [items, ended] = watch(must_submit(submission).id());
  EXPECT_THAT(items, testing::ElementsAre("0 done"));
  auto request = submission.requests(0);
  const auto answer = client_->schedule(request);
  EXPECT_EQ(answer.kernels.size(), 2u);
  EXPECT_EQ(answer.done->compiled(), 0u);
}

TEST_F(JobsOverTheWire, AreRefusedAsAWhole) {
  const auto text = [&](const std::function<void(v1::SubmitJobRequest&)>& change) {
    auto submission = job("k", {spmm, spmv});
    change(submission);
    v1::Job reply;
    return submit(submission, reply).text();
  };
  using Submission = v1::SubmitJobRequest;
  const auto wrong = [&] {
    auto submission = job("k", {spmm, "a(i) = B(i,j) * c(j"});
    v1::Job reply;
    return submit(submission, reply);
  }();
  EXPECT_EQ(wrong.status, grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(wrong.diagnostic.code(), "syntax");
  EXPECT_THAT(wrong.diagnostic.notes(), testing::Contains("in request 2 of the job"));
  EXPECT_EQ(
      text([](Submission& s) { s.clear_idempotency_key(); }),
      "INVALID_ARGUMENT invalid [job]: the key of a job must be 1 to 200 printable characters; found 0");
  EXPECT_EQ(text([](Submission& s) { s.set_label("a\nb"); }),
            "INVALID_ARGUMENT invalid [job]: the label of a job must be at most 200 printable characters; "
            "found 3, some of them not printable");
  EXPECT_EQ(text([](Submission& s) { s.clear_requests(); }),
            "INVALID_ARGUMENT invalid [job]: a job of 0 requests; expected 1 to 10000");
  EXPECT_EQ(text([](Submission& s) { s.set_priority(101); }),
            "INVALID_ARGUMENT invalid [job]: a priority of 101; expected -100 to 100");
  EXPECT_EQ(text([](Submission& s) { s.set_budget_seconds(-1); }),
            "INVALID_ARGUMENT invalid [job]: the budget of a job must be a number of seconds, 0 for none");
  grpc::ClientContext context;
  v1::ListJobsReply list;
  EXPECT_TRUE(stub_->List(&context, {}, &list).ok());
  EXPECT_EQ(list.jobs_size(), 0);
  v1::JobRequest which;
  which.set_id("j7");
  v1::Job reply;
  grpc::ClientContext other;
  EXPECT_EQ(test::ServiceClient::refusal_of(stub_->Cancel(&other, which, &reply), other).text(),
            "NOT_FOUND invalid [unknown-job]: there is no job `j7`");
}

}  // namespace
}  // namespace schaas

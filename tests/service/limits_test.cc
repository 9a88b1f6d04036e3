// Limits of the wire, and hostile names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <thread>

#include "compiler/support/digest.h"
#include "compiler/toolchain/isolation.h"
#include "schaas/v1/admin.grpc.pb.h"
#include "schaas/v1/jobs.grpc.pb.h"
#include "server/daemon/daemon.h"
#include "server/rpc/status_code.h"
#include "tests/service/http2_connection.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Searches last as long as `hold` says; `held` counts those that began.
struct Hold {
  std::atomic<bool> hold{true};
  std::atomic<int> held{0};
};
class Holding final : public server::KernelProvider {
 public:
  Holding(std::unique_ptr<KernelProvider> next, Hold& hold) : next_(std::move(next)), hold_(hold) {}
  support::Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                                   const frontier::Progress& progress,
                                                   const support::Cancellation& cancellation) override {
    ++hold_.held;
    while (hold_.hold && cancellation.check("").ok())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return next_->frontier(query, progress, cancellation);
  }
  support::Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                               const support::Cancellation& cancellation) override {
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  Hold& hold_;
};

/// Wraps the provider so that its searches wait for `hold`.
auto held_by(Hold& hold) {
  return [&hold](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Holding>(std::move(next), hold);
  };
}

v1::ScheduleRequest a_search() {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("y(i) = 2 * x(i)");
  request.set_search_only(true);
  return request;
}

/// Only the solver can compare its classes.
v1::ScheduleRequest a_search_with_questions() {
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csf";
  request.mutable_problem()->add_constraints("j <= k + l");
  request.set_search_only(true);
  request.set_no_cache(true);
  return request;
}

/// Adds removals with arguments of the given length.
class Removing final : public server::KernelProvider {
 public:
  Removing(std::unique_ptr<KernelProvider> next, std::size_t removals, std::size_t argument_bytes = 0)
      : next_(std::move(next)), removals_(removals), argument_bytes_(argument_bytes) {}
  support::Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                                   const frontier::Progress& progress,
                                                   const support::Cancellation& cancellation) override {
    auto answer = next_->frontier(query, progress, cancellation);
    if (!answer.ok()) return answer;
    auto more = std::make_shared<frontier::Frontier>(*answer->frontier);
    more->removals.resize(removals_);
    for (auto& removal : more->removals) removal.certificate.argument = std::string(argument_bytes_, 'x');
    answer->frontier = std::move(more);
    return answer;
  }
  support::Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                               const support::Cancellation& cancellation) override {
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  const std::size_t removals_, argument_bytes_;
};

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    server::DaemonOptions options;
    options.write_timeout = std::chrono::milliseconds(200);
    start(options);
  }
  void start(server::DaemonOptions options) {
    daemon_.reset();
    options.data_directory = data_;
    options.drain = std::chrono::seconds(1);
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(logged_);
    auto daemon = server::Daemon::start(options, std::make_shared<spdlog::logger>("test", sink));
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
  }
  static v1::ScheduleRequest linear(const std::string& expression) {
    v1::ScheduleRequest request;
    request.mutable_problem()->set_expression(expression);
    request.set_isa("x86-64-v2");
    request.add_traces("linear");
    request.set_traces_only(true);
    return request;
  }
  /// Returns the error of a daemon that can compile no kernel within these limits.
  std::string refusal_of_a_kernel(const server::DaemonOptions& options) {
    start(options);
    const auto answer = client_->schedule(linear("y(i) = 2 * x(i)"));
    EXPECT_FALSE(answer.ok());
    EXPECT_TRUE(answer.kernels.empty());
    return answer.refusal.text();
  }
  // Stores a binary of the given size.
  std::string stored(std::size_t bytes) {
    const std::string content(bytes, 'x');
    const std::string sha256 = support::digest_of(content).sha256;
    const std::string folder = data_ + "/binaries/" + sha256.substr(0, 2);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + sha256) << content;
    return sha256;
  }

  /// Expects that the name is refused, or accepted and sent to its own client alone.
  void send_hostile_names_of_jobs() {
    const std::string hostile = "j1\nevil forged";
    const auto jobs = v1::Jobs::NewStub(client_->channel());
    v1::SubmitJobRequest submission;
    submission.set_idempotency_key("evil");
    submission.set_client("payload");
    submission.set_label("forged");
    *submission.add_requests() = linear("evil(i) = payload(i)");
    v1::Job job;
    v1::JobRequest which;
    which.set_id(hostile);
    v1::WatchJobRequest watch;
    watch.set_id(hostile);
    const auto status_of = [](const auto& call) {
      grpc::ClientContext context;
      return call(context).error_code();
    };
    using grpc::StatusCode;
    EXPECT_EQ(status_of([&](auto& context) { return jobs->Submit(&context, submission, &job); }),
              StatusCode::OK);
    submission.set_idempotency_key(hostile);
    EXPECT_EQ(status_of([&](auto& context) { return jobs->Submit(&context, submission, &job); }),
              StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(status_of([&](auto& context) { return jobs->Cancel(&context, which, &job); }),
              StatusCode::NOT_FOUND);
    EXPECT_EQ(status_of([&](auto& context) { return jobs->Retry(&context, which, &job); }),
              StatusCode::NOT_FOUND);
    EXPECT_EQ(status_of([&](auto& context) { return jobs->Watch(&context, watch)->Finish(); }),
              StatusCode::NOT_FOUND);
    watch.set_id("j1");
    EXPECT_EQ(status_of([&](auto& context) {
                const auto reader = jobs->Watch(&context, watch);
                for (v1::JobEvent event; reader->Read(&event);) {
                }
                return reader->Finish();
              }),
              StatusCode::OK);
  }
  void send_hostile_names_of_backups() {
    const auto admin = v1::Admin::NewStub(client_->channel());
    v1::BackupRequest backup;
    backup.set_name("../evil\nforged");
    v1::BackupReply backed_up;
    grpc::ClientContext first;
    EXPECT_EQ(admin->Backup(&first, backup, &backed_up).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    v1::PinRequest pin;
    pin.set_key("evil\nforged");
    v1::PinReply pinned;
    grpc::ClientContext second;
    EXPECT_EQ(admin->Pin(&second, pin, &pinned).error_code(), grpc::StatusCode::NOT_FOUND);
  }
  // Within a minute.
  bool becomes_idle() const {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (daemon_->idle() == std::chrono::steady_clock::duration::zero() &&
           std::chrono::steady_clock::now() < patience)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return daemon_->idle().count() > 0;
  }

  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  std::ostringstream logged_;
  std::unique_ptr<server::Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
};

TEST_F(Limits, RefusesLargeMessages) {
  const auto within =
      client_->schedule(linear(std::string(server::DaemonOptions().message_bytes - 1000, 'a')));
  EXPECT_THAT(within.refusal.text(), HasSubstr("INVALID_ARGUMENT invalid [too-long]"));
  const auto beyond = client_->schedule(linear(std::string(server::DaemonOptions().message_bytes + 1, 'a')));
  EXPECT_EQ(beyond.refusal.status, grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

TEST_F(Limits, BoundMessagesAndKernelsAsConfigured) {
  server::DaemonOptions options;
  options.message_bytes = 1 << 16;
  options.max_kernels = 7;
  start(options);
  EXPECT_EQ(client_->schedule(linear(std::string(1 << 16, 'a'))).refusal.status,
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::ScheduleRequest request = test::request_for();
  request.set_kernels(8);
  EXPECT_EQ(
      client_->schedule(request).refusal.text(),
      "INVALID_ARGUMENT invalid [kernels]: 8 kernels are asked for; at most 7 are made for one request");
}

// Too little for its first state, so that not even a part of the space stands for the whole.
TEST_F(Limits, BoundsTheTimeOfSearches) {
  server::DaemonOptions options;
  options.search.seconds = 1e-6;
  start(options);
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("A(i,m) = B(i,j) * C(j,k) * D(k,l) * E(l,m)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csr";
  request.set_search_only(true);
  const auto cut = client_->schedule(request);
  ASSERT_TRUE(cut.ok()) << cut.refusal.text();
  EXPECT_FALSE(cut.frontier->complete()) << "a schedule that needs no search";
  request.mutable_search()->set_seconds(150);
  EXPECT_THAT(client_->schedule(request).refusal.text(), HasSubstr("invalid [search-bounds]"));
  start({});
  const auto whole = client_->schedule(request);
  ASSERT_TRUE(whole.ok()) << whole.refusal.text();
  EXPECT_TRUE(whole.frontier->complete());
}

TEST_F(Limits, BoundsTheTimeOfSolvers) {
  const v1::ScheduleRequest request = a_search_with_questions();
  const auto decided = [&](server::DaemonOptions options) -> std::uint64_t {
    start(options);
    const auto answer = client_->schedule(request);
    EXPECT_TRUE(answer.ok()) << answer.refusal.text();
    if (!answer.ok()) return 0;
    return answer.frontier->counts().solver_queries() - answer.frontier->counts().solver_unknown();
  };
  server::DaemonOptions options;
  EXPECT_GT(decided(options), 0u) << "this problem needs no solver";
  options.search.solver_milliseconds = 0;
  EXPECT_EQ(decided(options), 0u);
}

TEST_F(Limits, BoundsTheTimeOfCompilations) {
  server::DaemonOptions options;
  options.compile_seconds = 0;
  EXPECT_THAT(refusal_of_a_kernel(options), HasSubstr("exhausted [compiler-timeout]"));
}

TEST_F(Limits, BoundsTheMemoryOfCompilations) {
  server::DaemonOptions options;
  options.compile_memory = 1 << 20;  // not enough to begin
  refusal_of_a_kernel(options);
}

TEST_F(Limits, BoundsTheSizeOfSources) {
  server::DaemonOptions options;
  options.source_bytes = 1000;
  EXPECT_THAT(refusal_of_a_kernel(options), HasSubstr("exhausted [source-size]"));
}

TEST_F(Limits, BoundProblemsAsConfigured) {
  server::DaemonOptions options;
  options.search.problems = {40, 2, 2, 3, 1};
  options.job_requests = 2;
  start(options);
  const auto refusal = [&](const std::string& expression, std::vector<std::string> constraints = {}) {
    v1::ScheduleRequest request = linear(expression);
    for (const auto& one : constraints) request.mutable_problem()->add_constraints(one);
    request.set_no_cache(true);
    request.clear_traces();
    request.set_traces_only(false);
    request.set_search_only(true);
    return client_->schedule(request).refusal.text();
  };
  EXPECT_THAT(
      refusal("A(i,k) = ((B(i,j) * C(j,k)))"),
      HasSubstr("invalid [nesting]: parentheses are nested deeper than the 2 levels that this server takes"));
  EXPECT_THAT(refusal("a(i) = b(i) * c(i) + d(i)"),
              HasSubstr("unsupported [too-many-operands]: the statement has 3 operands; this server takes at "
                        "most 2"));
  EXPECT_THAT(refusal("A(i,l) = B(i,j,k) * C(j,k,l)"),
              HasSubstr("unsupported [too-many-indices]: the expression has 4 indices; this server takes at "
                        "most 3"));
  EXPECT_THAT(refusal("A(i,k) = B(i,j) * C(j,k) * Longer(k)     "),
              HasSubstr("invalid [too-long]: the expression has 41 bytes; this server takes at most 40"));
  EXPECT_THAT(refusal("A(i,k) = B(i,j) * C(j,k)", {"i <= 5", "k <= 5"}),
              HasSubstr("invalid [too-many-constraints]: the problem has 2 constraints; this server takes at "
                        "most 1"));
  EXPECT_EQ(refusal("A(i,k) = (B(i,j) * C(j,k))", {"i <= 5"}), test::Refusal().text());
  v1::ServerInfo info;
  ASSERT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
  EXPECT_EQ(info.expression_bytes(), 40u);
  EXPECT_EQ(info.factors(), 2u);
  EXPECT_EQ(info.indices(), 3u);
  EXPECT_EQ(info.constraints(), 1u);
  v1::SubmitJobRequest job;
  job.set_idempotency_key("k");
  for (int n = 0; n < 3; ++n) *job.add_requests() = linear("a(i) = b(i)");
  grpc::ClientContext context;
  v1::Job reply;
  const auto status = v1::Jobs::NewStub(client_->channel())->Submit(&context, job, &reply);
  EXPECT_EQ(test::ServiceClient::refusal_of(status, context).text(),
            "INVALID_ARGUMENT invalid [job]: a job of 3 requests; expected 1 to 2");
}

TEST_F(Limits, RefusesLargeMetadata) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", std::string(2 * server::ConnectionLimits::metadata_bytes, 'a'));
  v1::ServerInfo info;
  EXPECT_EQ(client_->stub().Info(&context, v1::InfoRequest(), &info).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(Limits, BoundsTheRequestsOfAJob) {
  v1::SubmitJobRequest job;
  job.set_idempotency_key("k");
  for (int n = 0; n <= 10'000; ++n) *job.add_requests() = linear("a = b(i)");
  grpc::ClientContext context;
  v1::Job reply;
  const auto status = v1::Jobs::NewStub(client_->channel())->Submit(&context, job, &reply);
  EXPECT_EQ(test::ServiceClient::refusal_of(status, context).text(),
            "INVALID_ARGUMENT invalid [job]: a job of 10001 requests; expected 1 to 10000");
}

TEST_F(Limits, DisconnectsAClientThatStopsReading) {
  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_sha256(stored(64 << 20));
  const auto reader = client_->stub().Download(&context, request);
  v1::DownloadChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_TRUE(becomes_idle()) << "the request is still worked on";
  std::size_t bytes = chunk.data().size();
  while (reader->Read(&chunk)) bytes += chunk.data().size();
  EXPECT_LT(bytes, std::size_t{64} << 20);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(Limits, DisconnectsAClientThatDoesNotReadItsFrontier) {
  server::DaemonOptions options;
  options.write_timeout = std::chrono::milliseconds(200);
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Removing>(std::move(next), 500, 20'000);
  };
  start(options);
  const v1::ScheduleRequest request = a_search();
  grpc::ClientContext context;
  const auto reader = client_->stub().Schedule(&context, request);
  while (logged_.str().find("method=Schedule") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_THAT(logged_.str(), HasSubstr("outcome=cancelled"));
  EXPECT_TRUE(becomes_idle());
}

// The limit holds whatever deadline the client sets.
TEST_F(Limits, EndsRequestsAtTheTimeLimit) {
  Hold hold;
  server::DaemonOptions options;
  options.max_request_time = std::chrono::seconds(1);
  options.wrap_compiling = held_by(hold);
  start(options);
  const v1::ScheduleRequest request = a_search();
  const auto answer = client_->schedule(request, std::chrono::minutes(2));
  EXPECT_EQ(hold.held, 1);
  EXPECT_THAT(answer.refusal.text(), HasSubstr("DEADLINE_EXCEEDED exhausted [deadline]"));
}

TEST_F(Limits, SendsEverythingToAClientThatReads) {
  const std::string sha256 = stored(8 << 20);
  EXPECT_EQ(client_->download(sha256).first.size(), std::size_t{8} << 20);
}

// Calls beyond the limit wait in their own client, and in no other.
TEST_F(Limits, BoundsConcurrentCallsPerConnection) {
  Hold hold;
  server::DaemonOptions options;
  options.streams = 3;
  options.admission.searches = 3;
  options.wrap_compiling = held_by(hold);
  start(options);
  std::vector<std::thread> busy;
  for (int n = 0; n < options.streams; ++n) {
    busy.emplace_back([&, n] {
      v1::ScheduleRequest request;
      request.mutable_problem()->set_expression("y(i) = " + std::to_string(n + 2) + " * x(i)");
      request.set_search_only(true);
      EXPECT_TRUE(client_->schedule(request).ok());
    });
  }
  while (hold.held < options.streams) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto info = [](test::ServiceClient& client, std::chrono::milliseconds patience) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    v1::ServerInfo reply;
    return client.stub().Info(&context, v1::InfoRequest(), &reply).error_code();
  };
  EXPECT_EQ(info(*client_, std::chrono::milliseconds(500)), grpc::StatusCode::DEADLINE_EXCEEDED);
  test::ServiceClient other(daemon_->addresses().front());
  EXPECT_EQ(info(other, std::chrono::minutes(1)), grpc::StatusCode::OK);
  hold.hold = false;
  EXPECT_EQ(info(*client_, std::chrono::minutes(1)), grpc::StatusCode::OK);
  for (auto& one : busy) one.join();
}

TEST_F(Limits, RefusesMoreCallsThanThreads) {
  Hold hold;
  server::DaemonOptions options;
  options.threads = 8;
  options.admission.searches = 2 * options.threads;
  options.wrap_compiling = held_by(hold);
  start(options);
  std::vector<std::thread> busy;
  std::atomic<int> served{0}, refused{0};
  for (int n = 0; n < 2 * options.threads; ++n) {
    busy.emplace_back([&, n] {
      v1::ScheduleRequest request;
      request.mutable_problem()->set_expression("y(i) = " + std::to_string(n + 2) + " * x(i)");
      request.set_search_only(true);
      const auto answer = client_->schedule(request);
      EXPECT_TRUE(answer.ok() || answer.refusal.status == grpc::StatusCode::RESOURCE_EXHAUSTED);
      ++(answer.ok() ? served : refused);
    });
  }
  while (hold.held + refused < 2 * options.threads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(hold.held, 0);
  EXPECT_LT(hold.held, options.threads) << "one of them listens";
  hold.hold = false;
  for (auto& one : busy) one.join();
  EXPECT_EQ(served, hold.held);
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

/// Has no memory for a search.
class OutOfMemory final : public server::KernelProvider {
 public:
  support::Result<server::FrontierAnswer> frontier(const server::FrontierQuery&, const frontier::Progress&,
                                                   const support::Cancellation&) override {
    throw std::bad_alloc();
  }
  support::Result<server::KernelAnswer> kernel(const server::KernelQuery&,
                                               const support::Cancellation&) override {
    throw std::bad_alloc();
  }
};

TEST_F(Limits, ReportARequestThatRunsOutOfMemory) {
  server::DaemonOptions options;
  options.wrap_compiling = [](auto) { return std::make_unique<OutOfMemory>(); };
  start(options);
  EXPECT_EQ(
      client_->schedule(a_search()).refusal.text(),
      "RESOURCE_EXHAUSTED exhausted [out-of-memory]: the server has not enough memory for this request");
  EXPECT_THAT(logged_.str(), HasSubstr("ran out of memory"));
}

// The status and its diagnostic are metadata, of which a client takes 8 KiB.
TEST_F(Limits, SendLongDiagnosticsShortened) {
  v1::ScheduleRequest request = test::request_for();
  request.add_traces(std::string(9000, 'q') + "()");
  const auto refusal = client_->schedule(request).refusal;
  EXPECT_EQ(refusal.status, grpc::StatusCode::INVALID_ARGUMENT) << refusal.text().substr(0, 300);
  EXPECT_FALSE(refusal.diagnostic.code().empty());
}

TEST_F(Limits, SendARetryDelayWhenTheQueueIsFull) {
  Hold hold;
  server::DaemonOptions options;
  options.admission.searches = 1;
  options.admission.waiting_searches = 0;
  options.wrap_compiling = held_by(hold);
  start(options);
  const v1::ScheduleRequest request = a_search();
  std::thread first([&] { EXPECT_TRUE(client_->schedule(request).ok()); });
  while (hold.held == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  grpc::ClientContext context;
  v1::ScheduleRequest second = request;
  second.mutable_problem()->set_expression("y(i) = 3 * x(i)");
  const auto reader = client_->stub().Schedule(&context, second);
  for (v1::ScheduleEvent event; reader->Read(&event);) {
  }
  const auto refusal = test::ServiceClient::refusal_of(reader->Finish(), context);
  hold.hold = false;
  first.join();
  EXPECT_THAT(refusal.text(), HasSubstr("RESOURCE_EXHAUSTED exhausted [overloaded]"));
  const auto told = context.GetServerTrailingMetadata().find(server::retry_metadata);
  ASSERT_NE(told, context.GetServerTrailingMetadata().end());
  EXPECT_GT(std::stod(std::string(told->second.data(), told->second.size())), 0);
}

TEST_F(Limits, SendARetryDelayBeyondAQuota) {
  Hold hold;
  server::DaemonOptions options;
  options.listen = {"127.0.0.1:0"};
  options.tokens = directory_ / "tokens";
  const auto line = [](const std::string& name, const std::string& quota) {
    return name + " " + support::digest_of(name).sha256 + " scopes=read,schedule " + quota + "\n";
  };
  std::ofstream(options.tokens) << line("hasty", "requests-per-minute=1") << line("double", "concurrent=1");
  options.wrap_compiling = held_by(hold);
  start(options);
  const auto info = [&](const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::ServerInfo reply;
    const auto status = client_->stub().Info(&context, v1::InfoRequest(), &reply);
    const auto told = context.GetServerTrailingMetadata().find(server::retry_metadata);
    const bool again = told != context.GetServerTrailingMetadata().end();
    return std::pair(test::ServiceClient::refusal_of(status, context).text(),
                     again ? std::stod(std::string(told->second.data(), told->second.size())) : 0);
  };
  EXPECT_THAT(info("hasty").first, HasSubstr("OK"));
  const auto [hasty, minute] = info("hasty");
  EXPECT_THAT(hasty,
              HasSubstr("RESOURCE_EXHAUSTED exhausted [quota-requests]: `hasty` has made more than 1"));
  EXPECT_GT(minute, 1);
  EXPECT_LE(minute, 60);
  std::thread first([&] {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer double");
    const v1::ScheduleRequest request = a_search();
    const auto reader = client_->stub().Schedule(&context, request);
    for (v1::ScheduleEvent event; reader->Read(&event);) {
    }
    EXPECT_TRUE(reader->Finish().ok());
  });
  while (hold.held == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto [twice, moment] = info("double");
  EXPECT_THAT(twice, HasSubstr("RESOURCE_EXHAUSTED exhausted [quota-concurrent]: `double` has 1 requests"));
  EXPECT_EQ(moment, 1);
  hold.hold = false;
  first.join();
  EXPECT_THAT(info("double").first, HasSubstr("OK"));
}

// Connections without a complete handshake are closed.
TEST_F(Limits, ClosesConnectionsWithoutAHandshake) {
  server::DaemonOptions options;
  options.handshake_timeout = std::chrono::milliseconds(300);
  start(options);
  for (const std::string said : {"", "PRI * HTTP/2.0\r\n"}) {
    test::Http2Connection connection(daemon_->addresses().front());
    connection.send(said);
    EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  }
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

// Silent connections are pinged, also without calls: a vanished peer would hold a descriptor for ever. A peer
// that answers stays.
TEST_F(Limits, ClosesConnectionsThatDoNotAnswerPings) {
  server::DaemonOptions options;
  options.keepalive_time = options.keepalive_timeout = std::chrono::milliseconds(300);
  start(options);
  v1::ServerInfo info;
  ASSERT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
  test::Http2Connection connection(daemon_->addresses().front());
  connection.say_hello();
  EXPECT_TRUE(connection.next(test::Http2Connection::ping).has_value());
  EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  std::this_thread::sleep_for(std::chrono::seconds(3));  // interval of several pings
  EXPECT_EQ(client_->channel()->GetState(false), GRPC_CHANNEL_READY);
}

TEST_F(Limits, ClosesConnectionsThatPingTooOften) {
  test::Http2Connection connection(daemon_->addresses().front());
  connection.say_hello();
  const auto answered = [&] {
    connection.send({test::Http2Connection::ping, 0, 0, "12345678"});
    return connection.next(test::Http2Connection::ping).has_value();
  };
  EXPECT_TRUE(answered()) << "one is not too many";
  for (int n = 0; n < 10; ++n) connection.send({test::Http2Connection::ping, 0, 0, "12345678"});
  const auto last = connection.next(test::Http2Connection::goaway);
  ASSERT_TRUE(last.has_value()) << "it was closed without a word";
  EXPECT_THAT(last->payload, HasSubstr("too_many_pings"));
  EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

TEST_F(Limits, SendsBinariesInChunksOfAMebibyte) {
  v1::DownloadRequest request;
  request.set_sha256(stored((2 << 20) + 1));
  grpc::ClientContext context;
  const auto reader = client_->stub().Download(&context, request);
  std::vector<std::size_t> sizes;
  for (v1::DownloadChunk chunk; reader->Read(&chunk);) sizes.push_back(chunk.data().size());
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(sizes, testing::ElementsAre(1 << 20, 1 << 20, 1));
}

TEST_F(Limits, BoundsTheRemovalsSent) {
  server::DaemonOptions options;
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Removing>(std::move(next), 501);
  };
  start(options);
  const v1::ScheduleRequest request = a_search();
  const auto answer = client_->schedule(request);
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  EXPECT_EQ(answer.frontier->removals_size(), 500);
  EXPECT_EQ(answer.frontier->removed(), 501u);
}

// Undecided solver queries keep both schedules: the answer is right, only larger.
TEST_F(Limits, BoundsTheMemoryOfSolvers) {
  server::DaemonOptions options;
  options.solver = SCHAAS_BINARY_DIR "/schaas-solver";
  const v1::ScheduleRequest request = a_search_with_questions();
  start(options);
  const auto enough = client_->schedule(request);
  ASSERT_TRUE(enough.ok()) << enough.refusal.text();
  ASSERT_GT(enough.frontier->counts().solver_queries(), 0u) << "this problem needs no solver";
  EXPECT_THAT(logged_.str(), Not(HasSubstr("the solver failed")));
  options.solver_memory = 1 << 20;
  start(options);
  const auto little = client_->schedule(request);
  ASSERT_TRUE(little.ok()) << little.refusal.text();
  EXPECT_THAT(logged_.str(), HasSubstr("the solver failed, its question stays open"));
  EXPECT_GE(little.frontier->entries_size(), enough.frontier->entries_size());
}

// Isolation that the system lacks is logged; nothing is logged where all of it is offered.
TEST_F(Limits, LogMissingIsolation) {
  const auto offered = toolchain::offered_isolation();
  const std::string warning = "[warning] this system keeps compilers and kernels on trial from " +
                              toolchain::print(offered) + " alone; docs/security.md\n";
  const bool all = offered == toolchain::Isolation{true, true, true};
  EXPECT_EQ(logged_.str().find(warning) != std::string::npos, !all) << logged_.str();
  EXPECT_EQ(logged_.str().find("this system keeps") != std::string::npos, !all);
}

// Words of C, of the shell and of the loader; all are names by the grammar.
TEST_F(Limits, KeepHostileNamesOutOfTheSource) {
  const auto answer =
      client_->schedule(linear("schaas_kernel(int_) = __asm__(int_, system) * LD_PRELOAD(system)"));
  EXPECT_THAT(answer.refusal.text(), HasSubstr("INVALID_ARGUMENT"));
  const auto fine = client_->schedule(linear("restrict(asm) = system(asm, goto) * evil_payload(goto)"));
  ASSERT_TRUE(fine.ok()) << fine.refusal.text();
  const auto [binary, refusal] = client_->download(fine.kernels.front().digest().sha256());
  ASSERT_FALSE(binary.empty()) << refusal.text();
  for (const char* word : {"restrict", "goto", "evil", "asm"}) EXPECT_THAT(binary, Not(HasSubstr(word)));
  EXPECT_THAT(fine.frontier->statement(), HasSubstr("evil_payload")) << "the user's own answer has them";
}

TEST_F(Limits, KeepHostileNamesOutOfTheLog) {
  client_->schedule(linear("evil(i) = payload(i)"));
  client_->schedule(linear("evil(i) = payload(i,i\n2026-01-01T00:00:00Z info forged"));
  EXPECT_THAT(client_->download("../../evil\nforged").second.text(), HasSubstr("[wrong-digest]"));
  v1::ListCacheRequest list;
  list.set_key("evil\nforged");
  v1::ListCacheReply reply;
  EXPECT_THAT(client_->call(&v1::Scheduler::Stub::ListCache, list, reply).text(), HasSubstr("[wrong-key]"));
  send_hostile_names_of_jobs();
  send_hostile_names_of_backups();
  daemon_.reset();
  for (const char* word : {"evil", "payload", "forged"}) EXPECT_THAT(logged_.str(), Not(HasSubstr(word)));
}

}  // namespace
}  // namespace schaas

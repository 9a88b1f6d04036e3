// Limits of the wire, and names that mean ill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/support/digest.h"
#include "schaas/v1/admin.grpc.pb.h"
#include "schaas/v1/jobs.grpc.pb.h"
#include "server/daemon.h"
#include "server/status.h"
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

/// Removes some classes more.
class Removing final : public server::KernelProvider {
 public:
  Removing(std::unique_ptr<KernelProvider> next, std::size_t removals)
      : next_(std::move(next)), removals_(removals) {}
  support::Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                                   const frontier::Progress& progress,
                                                   const support::Cancellation& cancellation) override {
    auto answer = next_->frontier(query, progress, cancellation);
    if (!answer.ok()) return answer;
    auto more = std::make_shared<frontier::Frontier>(*answer->frontier);
    more->removals.resize(removals_);
    answer->frontier = std::move(more);
    return answer;
  }
  support::Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                               const support::Cancellation& cancellation) override {
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  const std::size_t removals_;
};

/// A connection of somebody who speaks no more HTTP/2 than he is made to.
class Http2Connection {
 public:
  enum Type : unsigned char { settings = 4, ping = 6, goaway = 7 };
  struct Frame {
    unsigned char type = 0, flags = 0;
    std::string payload;
  };

  explicit Http2Connection(const std::string& address)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    const std::string path = address.substr(std::string("unix:").size());
    EXPECT_LT(path.size(), sizeof to.sun_path);
    path.copy(to.sun_path, path.size());
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Http2Connection() { ::close(socket_); }
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  /// All, or nothing any more because the other side has closed.
  void send(const std::string& bytes) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT_TRUE(sent == static_cast<ssize_t>(bytes.size()) || errno == EPIPE);
  }
  /// A frame of the whole connection.
  void send(Type type, const std::string& payload) {
    std::string frame(9, '\0');
    frame[2] = static_cast<char>(payload.size());
    frame[3] = static_cast<char>(type);
    send(frame + payload);
  }
  void say_hello() {
    send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    send(settings, "");
  }
  /// The next one of this type; none: the connection was closed before it came.
  std::optional<Frame> next(Type type) {
    for (;;) {
      const std::string head = read(9);
      if (head.size() < 9) return std::nullopt;
      const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(head[at]); };
      const std::size_t bytes = (std::size_t{byte(0)} << 16) + (std::size_t{byte(1)} << 8) + byte(2);
      Frame frame{byte(3), byte(4), read(bytes)};
      if (frame.type == type) return frame;
    }
  }
  /// Whether the other side closes it within a minute.
  bool is_closed() {
    while (!read(1).empty()) {
    }
    return errno_ == 0 || errno_ == ECONNRESET;
  }

 private:
  /// Less at the end.
  std::string read(std::size_t bytes) {
    std::string out(bytes, '\0');
    std::size_t have = 0;
    while (have < bytes) {
      const ssize_t got = ::recv(socket_, out.data() + have, bytes - have, 0);
      errno_ = got < 0 ? errno : 0;
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    out.resize(have);
    return out;
  }
  int socket_;
  int errno_ = 0;
};

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    server::DaemonOptions options;
    options.transfer = std::chrono::milliseconds(200);
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
  // A binary of so many bytes in the store.
  std::string stored(std::size_t bytes) {
    const std::string content(bytes, 'x');
    const std::string sha256 = support::digest_of(content).sha256;
    const std::string folder = data_ + "/binaries/" + sha256.substr(0, 2);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/" + sha256) << content;
    return sha256;
  }

  /// Refused, or taken and told to nobody but who asks.
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

  test_support::TemporaryDirectory directory_;
  std::string data_ = directory_ / "data";
  std::ostringstream logged_;
  std::unique_ptr<server::Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
};

TEST_F(Limits, AMessageBeyondTheLimitIsRefused) {
  const auto within =
      client_->schedule(linear(std::string(server::ConnectionLimits::received_bytes - 1000, 'a')));
  EXPECT_THAT(within.refusal.text(), HasSubstr("INVALID_ARGUMENT invalid [too-long]"));
  const auto beyond =
      client_->schedule(linear(std::string(server::ConnectionLimits::received_bytes + 1, 'a')));
  EXPECT_EQ(beyond.refusal.status, grpc::StatusCode::RESOURCE_EXHAUSTED);
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

TEST_F(Limits, MetadataBeyondTheLimitIsRefused) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", std::string(2 * server::ConnectionLimits::metadata_bytes, 'a'));
  v1::ServerInfo info;
  EXPECT_EQ(client_->stub().Info(&context, v1::InfoRequest(), &info).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(Limits, AJobHasOnlySoManyRequests) {
  v1::SubmitJobRequest job;
  job.set_idempotency_key("k");
  for (int n = 0; n <= 10'000; ++n) *job.add_requests() = linear("a = b(i)");
  grpc::ClientContext context;
  v1::Job reply;
  const auto status = v1::Jobs::NewStub(client_->channel())->Submit(&context, job, &reply);
  EXPECT_EQ(test::ServiceClient::refusal_of(status, context).text(),
            "INVALID_ARGUMENT invalid [job]: a job of 10001 requests; expected 1 to 10000");
}

TEST_F(Limits, AClientThatStopsReadingIsLeft) {
  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_sha256(stored(64 << 20));
  const auto reader = client_->stub().Download(&context, request);
  v1::DownloadChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (daemon_->idle() == std::chrono::steady_clock::duration::zero() &&
         std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GT(daemon_->idle().count(), 0) << "the request is still worked on";
  std::size_t bytes = chunk.data().size();
  while (reader->Read(&chunk)) bytes += chunk.data().size();
  EXPECT_LT(bytes, std::size_t{64} << 20);
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(Limits, AClientThatReadsGetsItAll) {
  const std::string sha256 = stored(8 << 20);
  EXPECT_EQ(client_->download(sha256).first.size(), std::size_t{8} << 20);
}

// Calls beyond the limit wait in their own client, and in no other.
TEST_F(Limits, AConnectionHasOnlySoManyCallsAtOnce) {
  Hold hold;
  server::DaemonOptions options;
  options.streams = 3;
  options.admission.searches = 3;
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Holding>(std::move(next), hold);
  };
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

// Who connects and says nothing, or not enough, holds no connection for long.
TEST_F(Limits, MoreCallsThanThreadsAreRefused) {
  Hold hold;
  server::DaemonOptions options;
  options.threads = 8;
  options.admission.searches = 2 * options.threads;
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Holding>(std::move(next), hold);
  };
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

TEST_F(Limits, WhoIsRefusedBecauseTheLineIsFullIsToldWhenToAskAgain) {
  Hold hold;
  server::DaemonOptions options;
  options.admission.searches = 1;
  options.admission.waiting_searches = 0;
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Holding>(std::move(next), hold);
  };
  start(options);
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("y(i) = 2 * x(i)");
  request.set_search_only(true);
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

TEST_F(Limits, AConnectionThatSaysNoHelloIsClosed) {
  server::DaemonOptions options;
  options.handshake = std::chrono::milliseconds(300);
  start(options);
  for (const std::string said : {"", "PRI * HTTP/2.0\r\n"}) {
    Http2Connection connection(daemon_->addresses().front());
    connection.send(said);
    EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  }
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

// Also one that has no call: whoever vanished would hold a descriptor for ever. Who answers stays.
TEST_F(Limits, AConnectionThatDoesNotAnswerAPingIsClosed) {
  server::DaemonOptions options;
  options.silence = options.ping_answer = std::chrono::milliseconds(300);
  start(options);
  v1::ServerInfo info;
  ASSERT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
  Http2Connection connection(daemon_->addresses().front());
  connection.say_hello();
  EXPECT_TRUE(connection.next(Http2Connection::ping).has_value());
  EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  std::this_thread::sleep_for(std::chrono::seconds(3));  // of several pings
  EXPECT_EQ(client_->channel()->GetState(false), GRPC_CHANNEL_READY);
}

TEST_F(Limits, AConnectionThatPingsTooOftenIsClosed) {
  Http2Connection connection(daemon_->addresses().front());
  connection.say_hello();
  const auto answered = [&] {
    connection.send(Http2Connection::ping, "12345678");
    return connection.next(Http2Connection::ping).has_value();
  };
  EXPECT_TRUE(answered()) << "one is not too many";
  for (int n = 0; n < 10; ++n) connection.send(Http2Connection::ping, "12345678");
  const auto last = connection.next(Http2Connection::goaway);
  ASSERT_TRUE(last.has_value()) << "it was closed without a word";
  EXPECT_THAT(last->payload, HasSubstr("too_many_pings"));
  EXPECT_TRUE(connection.is_closed()) << "after a minute it is still open";
  v1::ServerInfo info;
  EXPECT_EQ(client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status, grpc::StatusCode::OK);
}

TEST_F(Limits, ABinaryComesInChunksOfAMebibyte) {
  v1::DownloadRequest request;
  request.set_sha256(stored((2 << 20) + 1));
  grpc::ClientContext context;
  const auto reader = client_->stub().Download(&context, request);
  std::vector<std::size_t> sizes;
  for (v1::DownloadChunk chunk; reader->Read(&chunk);) sizes.push_back(chunk.data().size());
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(sizes, testing::ElementsAre(1 << 20, 1 << 20, 1));
}

TEST_F(Limits, OnlySoManyRemovalsAreSent) {
  server::DaemonOptions options;
  options.wrap_compiling = [&](std::unique_ptr<server::KernelProvider> next) {
    return std::make_unique<Removing>(std::move(next), 501);
  };
  start(options);
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("y(i) = 2 * x(i)");
  request.set_search_only(true);
  const auto answer = client_->schedule(request);
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  EXPECT_EQ(answer.frontier->removals_size(), 500);
  EXPECT_EQ(answer.frontier->removed(), 501u);
}

// What the solver cannot decide stays open, so the answer is one that is right, only larger.
TEST_F(Limits, ASolverHasOnlySoMuchMemory) {
  server::DaemonOptions options;
  options.solver = SCHAAS_BINARY_DIR "/schaas-solver";
  v1::ScheduleRequest request;
  request.mutable_problem()->set_expression("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csf";
  request.mutable_problem()->add_constraints("j <= k + l");
  request.set_search_only(true);
  request.set_no_cache(true);
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

// Words of C, of the shell and of the loader; all are names by the grammar.
TEST_F(Limits, HostileNamesNeverReachTheSource) {
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

TEST_F(Limits, HostileNamesNeverReachTheLog) {
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

// The HTTP server: metrics, health and readiness; and request ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <future>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "kernels_cache/schedule_schema.h"
#include "kernels_cache/sqlite.h"
#include "server/daemon/daemon.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using support::Cancellation;
using support::Result;

// Searches last as long as `hold` says.
class Holding final : public server::KernelProvider {
 public:
  Holding(std::unique_ptr<KernelProvider> next, std::shared_ptr<std::atomic<bool>> hold)
      : next_(std::move(next)), hold_(std::move(hold)) {}
  Result<server::FrontierAnswer> frontier(const server::FrontierQuery& query,
                                          const frontier::Progress& progress,
                                          const Cancellation& cancellation) override {
    while (*hold_ && cancellation.check("").ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return next_->frontier(query, progress, cancellation);
  }
  Result<server::KernelAnswer> kernel(const server::KernelQuery& query,
                                      const Cancellation& cancellation) override {
    return next_->kernel(query, cancellation);
  }

 private:
  std::unique_ptr<KernelProvider> next_;
  std::shared_ptr<std::atomic<bool>> hold_;
};

class Http : public testing::Test {
 protected:
  void SetUp() override {
    server::DaemonOptions options;
    options.data_directory = directory_ / "data";
    options.http = "127.0.0.1:0";
    options.wrap_compiling = [this](std::unique_ptr<server::KernelProvider> next) {
      return std::make_unique<Holding>(std::move(next), hold_);
    };
    auto started = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(started.ok()) << support::render(started.error());
    daemon_ = std::move(started).value();
  }
  httplib::Client browser() const { return httplib::Client("http://" + daemon_->http_address()); }
  std::string get(const std::string& path) const {
    const auto reply = browser().Get(path);
    return reply ? std::to_string(reply->status) + " " + reply->body : "no reply";
  }
  test::ServiceClient client() const { return test::ServiceClient(daemon_->addresses().front()); }

  test_support::TemporaryDirectory directory_;
  std::shared_ptr<std::atomic<bool>> hold_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<server::Daemon> daemon_;
};

TEST_F(Http, ReportsHealthAndReadiness) {
  EXPECT_EQ(get("/healthz"), "200 ok\n");
  EXPECT_EQ(get("/readyz"), "200 ready\n");
  EXPECT_EQ(get("/nowhere"), "404 404\n");
}

TEST_F(Http, IsNotReadyAsSoonAsItStopsWhileRequestsStillRun) {
  *hold_ = true;
  auto running = std::async(std::launch::async, [this] { return client().schedule(test::request_for()); });
  while (get("/metrics").find("schaas_requests_running 1\n") == std::string::npos) {
  }
  auto stopping = std::async(std::launch::async, [this] { daemon_->stop(); });
  while (get("/readyz") != "503 not ready\n") {
  }
  EXPECT_EQ(get("/healthz"), "200 ok\n");
  EXPECT_THAT(get("/metrics"), testing::HasSubstr("schaas_ready 0\n"));
  *hold_ = false;
  const auto answer = running.get();
  EXPECT_TRUE(answer.ok()) << answer.refusal.text();
  stopping.get();
  EXPECT_EQ(get("/healthz"), "no reply");
}

// Another program has dropped a table.
TEST_F(Http, IsNotReadyWhileTheDatabaseCannotBeRead) {
  EXPECT_EQ(get("/readyz"), "200 ready\n");
  auto database =
      kernels_cache::open_connection(directory_ / "data/schedules.db", kernels_cache::schedule_schema())
          .value();
  const auto execute = [&](const char* sql) {
    EXPECT_TRUE(kernels_cache::Statement(*database, sql).run("rename a table").ok());
  };
  execute("ALTER TABLE kernel RENAME TO hidden");
  EXPECT_EQ(get("/readyz"), "503 not ready\n");
  EXPECT_EQ(get("/healthz"), "200 ok\n");
  execute("ALTER TABLE hidden RENAME TO kernel");
  EXPECT_EQ(get("/readyz"), "200 ready\n");
}

// A family named `_bytes` in the table of docs/operations.md continues the name before it.
std::set<std::string> documented_families() {
  std::ifstream file(SCHAAS_SOURCE_DIR "/docs/operations.md");
  std::set<std::string> out;
  const std::regex name("`([a-z_]+)`");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `schaas_")) continue;
    const std::string cell = line.substr(0, line.find('|', 1));
    for (std::sregex_iterator found(cell.begin(), cell.end(), name), end; found != end; ++found) {
      const std::string text = (*found)[1];
      out.insert(text.starts_with('_') ? "schaas_stored" + text : text);
    }
  }
  return out;
}

TEST_F(Http, ExportsExactlyTheDocumentedFamilies) {
  EXPECT_TRUE(client().schedule(test::request_for()).ok());
  std::istringstream lines(get("/metrics"));
  std::set<std::string> told;
  const std::string type = "# TYPE ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(type)) told.insert(line.substr(type.size(), line.rfind(' ') - type.size()));
  }
  EXPECT_EQ(told, documented_families());
}

// Returns the counters that a request changes.
TEST_F(Http, CountsSecondsQueriesAndBytes) {
  const auto value = [this](const std::string& family) {
    const std::string text = get("/metrics"), line = "\n" + family + " ";
    const auto found = text.find(line);
    return found == std::string::npos ? 0.0 : std::stod(text.substr(found + line.size()));
  };
  auto request = test::request_for("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)");
  (*request.mutable_problem()->mutable_formats())["B"] = "csf";
  request.mutable_problem()->add_constraints("j <= k + l");
  test::ServiceClient asking = client();
  const auto answer = asking.schedule(request);
  ASSERT_TRUE(answer.ok()) << answer.refusal.text();
  const auto& counts = answer.frontier->counts();
  ASSERT_GT(counts.solver_queries(), 0u) << "this problem needs no solver";
  EXPECT_GE(value("schaas_solver_queries_total"), counts.solver_queries());
  EXPECT_GE(value("schaas_solver_unknown_total"), counts.solver_unknown());
  EXPECT_LE(value("schaas_solver_unknown_total"), value("schaas_solver_queries_total"));
  EXPECT_GT(value("schaas_compile_seconds_total"), 0);
  EXPECT_LT(value("schaas_compile_seconds_total"), 600);
  EXPECT_EQ(value("schaas_sent_bytes_total"), 0);
  const std::string binary = asking.download(answer.kernels.front().digest().sha256()).first;
  EXPECT_GT(binary.size(), 0u);
  EXPECT_EQ(value("schaas_sent_bytes_total"), binary.size());
}

TEST_F(Http, CountsRequestsAndResults) {
  EXPECT_TRUE(client().schedule(test::request_for()).ok());
  EXPECT_TRUE(client().schedule(test::request_for()).ok());
  auto wrong = test::request_for();
  wrong.set_isa("vax");
  EXPECT_FALSE(client().schedule(wrong).ok());
  const std::string text = get("/metrics");
  for (const std::string line : {
           "schaas_ready 1",
           "schaas_requests_running 0",
           R"(schaas_requests_total{method="Schedule",outcome="ok"} 2)",
           R"(schaas_requests_total{method="Schedule",outcome="isa"} 1)",
           R"(schaas_request_seconds_count{method="Schedule"} 3)",
           R"(schaas_request_seconds_bucket{method="Schedule",le="+Inf"} 3)",
           R"(schaas_frontiers_total{answer="made"} 1)",
           R"(schaas_frontiers_total{answer="hit"} 1)",
           R"(schaas_stage_seconds_count{stage="search"} 1)",
           "schaas_stored_problems 1",
           "schaas_stored_frontiers 1",
           "schaas_quarantined_kernels 0",
           R"(schaas_job_items{state="waiting"} 0)",
       }) {
    EXPECT_THAT(text, testing::HasSubstr("\n" + line + "\n"));
  }
}

// The format as its specification gives it.
TEST_F(Http, MetricsAreWellFormed) {
  EXPECT_TRUE(client().schedule(test::request_for()).ok());
  std::istringstream lines(get("/metrics").substr(4));
  const std::regex comment("# (HELP [a-z_]+ [^\\n]+|TYPE [a-z_]+ (counter|gauge|histogram))");
  const std::regex sample(R"re([a-z_]+(\{([a-z]+="[^"\\]*",?)+\})? (\d[0-9.e+-]*))re");
  std::size_t samples = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_comment = line.starts_with("#");
    EXPECT_TRUE(std::regex_match(line, is_comment ? comment : sample)) << line;
    samples += is_comment ? 0 : 1;
  }
  EXPECT_GT(samples, 50u);
}

// DNS rebinding: a page of another site whose name resolves to this machine.
TEST_F(Http, RefusesOtherHosts) {
  const auto reply =
      browser().Get("/metrics", {{"Host", "evil.example:" + daemon_->http_address().substr(10)}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 421);
  EXPECT_EQ(reply->body, "use 127.0.0.1 or localhost\n");
  const auto local = browser().Get("/healthz", {{"Host", "localhost:1"}});
  ASSERT_TRUE(local);
  EXPECT_EQ(local->status, 200);
}

TEST_F(Http, RefusesHostsWhosePortIsAName) {
  for (const std::string host : {"127.0.0.1:evil.example", "localhost:evil.example", "127.0.0.1:", "[::1]:x",
                                 "evil.example", "127.0.0.1.evil.example:80"}) {
    const auto reply = browser().Get("/healthz", {{"Host", host}});
    ASSERT_TRUE(reply) << host;
    EXPECT_EQ(reply->status, 421) << host;
  }
  for (const std::string host : {"127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "localhost"}) {
    const auto reply = browser().Get("/healthz", {{"Host", host}});
    ASSERT_TRUE(reply) << host;
    EXPECT_EQ(reply->status, 200) << host;
  }
}

TEST_F(Http, IgnoresRanges) {
  std::string ranges = "bytes=0-";
  while (ranges.size() < 8000) ranges += ",0-";
  const auto whole = browser().Get("/metrics");
  const auto reply = browser().Get("/metrics", {{"Range", ranges}});
  ASSERT_TRUE(whole && reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_LT(reply->body.size(), 2 * whole->body.size());
}

/// A connection that sends what it is told.
class RawConnection {
 public:
  explicit RawConnection(const std::string& address) : file_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(connect(file_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  ~RawConnection() { close(file_); }
  void send(const std::string& text) const { ::send(file_, text.data(), text.size(), MSG_NOSIGNAL); }
  /// Waits for the other end to close; sends a byte of a header each 100 ms.
  bool closes_within(std::chrono::seconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      send("x");
      pollfd watched{file_, POLLIN, 0};
      if (poll(&watched, 1, 100) == 0) continue;
      char some[256];
      if (recv(file_, some, sizeof some, 0) <= 0) return true;
    }
    return false;
  }

 private:
  int file_;
};

TEST_F(Http, EndsARequestThatComesByteByByte) {
  const RawConnection slow(daemon_->http_address());
  slow.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ");
  EXPECT_TRUE(slow.closes_within(std::chrono::seconds(20)));
}

TEST_F(Http, BoundsTheSizeOfARequest) {
  const RawConnection large(daemon_->http_address());
  large.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n");
  const std::string header = "X: " + std::string(1000, 'x') + "\r\n";
  for (int n = 0; n < 100; ++n) large.send(header);
  EXPECT_TRUE(large.closes_within(std::chrono::seconds(3)));
}

TEST_F(Http, StopsWhileSlowClientsHoldEveryThread) {
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int n = 0; n < 8; ++n) {
    slow.push_back(std::make_unique<RawConnection>(daemon_->http_address()));
    slow.back()->send("GET /healthz HTTP/1.1\r\n");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto begin = std::chrono::steady_clock::now();
  daemon_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(Http, TakesNoBody) {
  const auto reply = browser().Post("/healthz", std::string(1000, 'x'), "text/plain");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
}

TEST_F(Http, EndsConnectionsAfterTwentyRequests) {
  httplib::Client browser("http://" + daemon_->http_address());
  browser.set_keep_alive(true);
  for (int n = 1; n <= 20; ++n) {
    const auto reply = browser.Get("/healthz");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->get_header_value("Connection") == "close", n == 20) << n;
  }
}

TEST_F(Http, IsReadOnly) {
  const auto reply = browser().Post("/metrics", "x=1", "text/plain");
  EXPECT_TRUE(!reply || reply->status >= 400);
  EXPECT_EQ(get("/healthz"), "200 ok\n");
  const auto head = browser().Head("/healthz");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->get_header_value("X-Content-Type-Options"), "nosniff");
}

TEST_F(Http, LogsTheIdOfARequest) {
  const auto id_told = [this](const std::string& sent) {
    grpc::ClientContext context;
    if (!sent.empty()) context.AddMetadata("schaas-request-id", sent);
    v1::ServerInfo reply;
    EXPECT_TRUE(client().stub().Info(&context, {}, &reply).ok());
    const auto& told = context.GetServerTrailingMetadata();
    const auto found = told.find("schaas-request-id");
    return found == told.end() ? std::string() : std::string(found->second.data(), found->second.size());
  };
  EXPECT_EQ(id_told("nightly-17.b_3"), "nightly-17.b_3");
  EXPECT_THAT(id_told(""), testing::MatchesRegex("[0-9a-f]{8}-[0-9]+"));
  EXPECT_THAT(id_told("two words"), testing::MatchesRegex("[0-9a-f]{8}-[0-9]+"));
  EXPECT_THAT(id_told(std::string(65, 'a')), testing::MatchesRegex("[0-9a-f]{8}-[0-9]+"));
}

TEST(HttpAddress, IsLoopbackOnly) {
  for (const std::string wrong :
       {"0.0.0.0:80", "example.org:80", "192.168.0.1:80", "127.0.0.1.evil.example:1"}) {
    const auto checked = server::check_http_address(wrong);
    ASSERT_FALSE(checked.ok()) << wrong;
    EXPECT_EQ(support::render(checked.error()),
              "invalid [http]: cannot serve HTTP on `" + wrong +
                  "`: it has no authentication and stays on the loopback interface\n"
                  "  note: expected 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; --http-any serves metrics "
                  "and health, and no pages, anywhere");
  }
  EXPECT_EQ(support::render(server::check_http_address("unix:/tmp/x").error()),
            "invalid [http]: cannot serve HTTP on `unix:/tmp/x`: not a host and a port\n"
            "  note: expected 127.0.0.1:PORT, [::1]:PORT or localhost:PORT");
  EXPECT_TRUE(server::check_http_address("127.0.0.1:8471").ok());
  EXPECT_TRUE(server::check_http_address("0.0.0.0:8471", server::HttpReach::anywhere).ok());
  EXPECT_FALSE(server::check_http_address("unix:/tmp/x", server::HttpReach::anywhere).ok());
  EXPECT_TRUE(server::check_http_address("[::1]:8471").ok());
}

}  // namespace
}  // namespace schaas

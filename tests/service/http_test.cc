// What the daemon tells by HTTP: metrics, health, readiness; and the ids of requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <future>
#include <regex>
#include <sstream>
#include <thread>

#include "server/daemon.h"
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

TEST_F(Http, TellsHealthAndReadiness) {
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

TEST_F(Http, CountsWhatWasAskedAndMade) {
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

// A page of another site whose name was made to mean this machine.
TEST_F(Http, RefusesOtherHosts) {
  const auto reply =
      browser().Get("/metrics", {{"Host", "evil.example:" + daemon_->http_address().substr(10)}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 421);
  EXPECT_EQ(reply->body, "ask for 127.0.0.1 or localhost\n");
  const auto local = browser().Get("/healthz", {{"Host", "localhost:1"}});
  ASSERT_TRUE(local);
  EXPECT_EQ(local->status, 200);
}

TEST_F(Http, IsForReading) {
  const auto reply = browser().Post("/metrics", "x=1", "text/plain");
  EXPECT_TRUE(!reply || reply->status >= 400);
  EXPECT_EQ(get("/healthz"), "200 ok\n");
  const auto head = browser().Head("/healthz");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->get_header_value("X-Content-Type-Options"), "nosniff");
}

TEST_F(Http, KeepsTheIdOfARequest) {
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

TEST(HttpAddress, IsOnTheLoopbackInterface) {
  for (const std::string wrong :
       {"0.0.0.0:80", "example.org:80", "192.168.0.1:80", "127.0.0.1.evil.example:1"}) {
    const auto checked = server::check_http_address(wrong);
    ASSERT_FALSE(checked.ok()) << wrong;
    EXPECT_EQ(support::render(checked.error()),
              "invalid [http]: cannot serve HTTP on `" + wrong +
                  "`: it has no authentication and stays on the loopback interface\n"
                  "  note: expected 127.0.0.1:PORT, [::1]:PORT or localhost:PORT");
  }
  EXPECT_EQ(support::render(server::check_http_address("unix:/tmp/x").error()),
            "invalid [http]: cannot serve HTTP on `unix:/tmp/x`: not a host and a port\n"
            "  note: expected 127.0.0.1:PORT, [::1]:PORT or localhost:PORT");
  EXPECT_TRUE(server::check_http_address("127.0.0.1:8471").ok());
  EXPECT_TRUE(server::check_http_address("[::1]:8471").ok());
}

}  // namespace
}  // namespace schaas

// A client retries on a busy server after the delay the server names, and reports it to its user.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "proto/kernel_abi.h"
#include "schaas/connection.h"
#include "schaas/v1/schaas.grpc.pb.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

// Refuses a number of calls, then answers. Any key is accepted: the client is configured to trust it.
class BusyServer final : public v1::Scheduler::Service {
 public:
  std::atomic<int> refusals{0}, calls{0};
  std::atomic<bool> says_when{true}, begins{false}, sleeps{false};
  std::atomic<char> key{'a'};

  grpc::Status Info(grpc::ServerContext*, const v1::InfoRequest*, v1::ServerInfo* reply) override {
    reply->set_abi_version(SCHAAS_KERNEL_ABI_VERSION);
    reply->set_public_key("ed25519:" + std::string(64, key));
    return grpc::Status::OK;
  }
  grpc::Status ListCache(grpc::ServerContext* context, const v1::ListCacheRequest*,
                         v1::ListCacheReply* reply) override {
    ++calls;
    while (sleeps && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (refusals-- > 0) return refused(*context);
    reply->add_entries()->set_key("k");
    return grpc::Status::OK;
  }
  grpc::Status Emit(grpc::ServerContext* context, const v1::EmitRequest*, v1::EmitReply* reply) override {
    ++calls;
    while (sleeps && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    reply->set_text("text");
    return grpc::Status::OK;
  }
  grpc::Status Schedule(grpc::ServerContext* context, const v1::ScheduleRequest*,
                        grpc::ServerWriter<v1::ScheduleEvent>* writer) override {
    ++calls;
    v1::ScheduleEvent event;
    if (begins) {
      event.mutable_progress()->set_stage("space");
      writer->Write(event);
    }
    while (sleeps && !context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (refusals-- > 0) return refused(*context);
    event.mutable_done()->set_compiled(1);
    writer->Write(event);
    return grpc::Status::OK;
  }

 private:
  grpc::Status refused(grpc::ServerContext& context) const {
    v1::Diagnostic diagnostic;
    diagnostic.set_family("exhausted");
    diagnostic.set_code("overloaded");
    diagnostic.set_message("the server is busy");
    context.AddTrailingMetadata("schaas-diagnostic-bin", diagnostic.SerializeAsString());
    if (says_when) context.AddTrailingMetadata("schaas-retry-seconds", "0.010");
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "overloaded"};
  }
};

class OverloadedServer : public testing::Test {
 protected:
  void SetUp() override {
    const std::string address = "unix:" + (directory_ / "socket");
    listen(address);
    setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1);
    options_.server = address;
    options_.busy = [this](double seconds) { waits_.push_back(seconds); };
  }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }
  void listen(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }
  /// Ends the server while it works on a call; another one begins after a while.
  std::thread replace_while_it_works() {
    service_.sleeps = true;
    service_.calls = 0;
    return std::thread([this] {
      while (service_.calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      server_->Shutdown(std::chrono::system_clock::now());
      service_.sleeps = false;
      server_->Wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      listen(options_.server);
    });
  }
  client::Connection connect() {
    auto connection = client::Connection::open(options_);
    EXPECT_TRUE(connection.ok()) << support::render(connection.error());
    return std::move(connection).value();
  }

  test_support::TemporaryDirectory directory_;
  BusyServer service_;
  std::unique_ptr<grpc::Server> server_;
  client::ConnectOptions options_;
  std::vector<double> waits_;
};

TEST_F(OverloadedServer, IsRetriedWithGrowingDelays) {
  auto connection = connect();
  service_.refusals = 4;
  const auto entries = connection.list_cache();
  ASSERT_TRUE(entries.ok()) << support::render(entries.error());
  EXPECT_EQ(entries->size(), 1u);
  EXPECT_EQ(service_.calls, 5);
  ASSERT_EQ(waits_.size(), 4u);
  for (std::size_t n = 0; n < waits_.size();
       ++n) {  // 10 ms, doubled each time, and up to half of it more or less
    const double middle = 0.010 * static_cast<double>(1 << n);
    EXPECT_GE(waits_[n], 0.5 * middle);
    EXPECT_LE(waits_[n], 1.5 * middle);
  }
}

TEST_F(OverloadedServer, IsReplacedWhileItWorksOnACall) {
  auto connection = connect();
  std::thread replaced = replace_while_it_works();
  const auto emitted = connection.emit({});
  replaced.join();
  ASSERT_TRUE(emitted.ok()) << support::render(emitted.error());
  EXPECT_EQ(emitted->text, "text");
  EXPECT_EQ(service_.calls, 2);

  // The listener hears the answer of the next server from its beginning.
  service_.begins = true;
  int stages = 0;
  replaced = replace_while_it_works();
  const auto answer = connection.schedule({}, [&](const client::ScheduleEvent& event) {
    stages += std::holds_alternative<client::Progress>(event) ? 1 : 0;
    return true;
  });
  replaced.join();
  ASSERT_TRUE(answer.ok()) << support::render(answer.error());
  EXPECT_EQ(answer->done.compiled, 1u);
  EXPECT_EQ(stages, 2);
}

TEST_F(OverloadedServer, IsNotLookedForForEver) {
  auto connection = connect();
  service_.sleeps = true;
  std::thread ended([this] {
    while (service_.calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server_->Shutdown(std::chrono::system_clock::now());
  });
  const auto emitted = connection.emit({});
  ended.join();
  ASSERT_FALSE(emitted.ok());
  EXPECT_EQ(emitted.error().code, "server-down");
}

TEST_F(OverloadedServer, IsNotReplacedByOneOfAnotherKey) {
  options_.server_key = "ed25519:" + std::string(64, 'a');
  auto connection = connect();
  service_.key = 'b';
  std::thread replaced = replace_while_it_works();
  const auto emitted = connection.emit({});
  replaced.join();
  ASSERT_FALSE(emitted.ok());
  EXPECT_EQ(emitted.error().code, "server-key-mismatch");
  EXPECT_EQ(service_.calls, 1);
}

TEST_F(OverloadedServer, IsNotRetriedForEver) {
  options_.busy_limit = std::chrono::milliseconds(100);
  auto connection = connect();
  service_.refusals = 1'000'000;
  const auto entries = connection.list_cache();
  ASSERT_FALSE(entries.ok());
  EXPECT_EQ(support::render(entries.error()), "exhausted [overloaded]: the server is busy");
  EXPECT_GT(service_.calls, 1);
}

TEST_F(OverloadedServer, IsNotWaitedForBeyondTheDeadline) {
  options_.call_limit = std::chrono::milliseconds(300);
  auto connection = connect();
  service_.sleeps = true;
  const auto begin = std::chrono::steady_clock::now();
  const auto entries = connection.list_cache();
  ASSERT_FALSE(entries.ok());
  EXPECT_EQ(entries.error().code, "deadline");
  EXPECT_EQ(service_.calls, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_F(OverloadedServer, IsNotRetriedWithoutADelay) {
  auto connection = connect();
  service_.says_when = false;
  service_.refusals = 1;
  EXPECT_FALSE(connection.list_cache().ok());
  EXPECT_EQ(service_.calls, 1);
}

TEST_F(OverloadedServer, IsAskedForASchedule) {
  auto connection = connect();
  service_.refusals = 2;
  const auto answer = connection.schedule({});
  ASSERT_TRUE(answer.ok()) << support::render(answer.error());
  EXPECT_EQ(answer->done.compiled, 1u);
  EXPECT_EQ(service_.calls, 3);
}

// An event delivered before the refusal must not be delivered twice.
TEST_F(OverloadedServer, IsNotRetriedOnceItsAnswerBegan) {
  auto connection = connect();
  service_.begins = true;
  service_.refusals = 1;
  EXPECT_EQ(connection.schedule({}).error().code, "overloaded");
  EXPECT_EQ(service_.calls, 1);
}

}  // namespace
}  // namespace schaas

// Malformed bytes for every method: refused, and the server stays alive.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "proto/methods.h"
#include "server/daemon/daemon.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

class MalformedMessages : public testing::Test {
 protected:
  void SetUp() override {
    server::DaemonOptions options;
    options.data_directory = directory_ / "data";
    options.drain = std::chrono::seconds(1);
    auto daemon = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
    client_ = std::make_unique<test::ServiceClient>(daemon_->addresses().front());
  }
  // Streaming calls are cut after their first message.
  grpc::Status send(const server::Method& method, const std::string& bytes) {
    std::string path = "/" + std::string(method.path);
    path[path.rfind('.')] = '/';
    grpc::GenericStub stub(client_->channel());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, path, &queue);
    const auto step = [&] {
      void* tag = nullptr;
      bool done = false;
      return queue.Next(&tag, &done) && done;
    };
    call->StartCall(nullptr);
    if (step()) {
      const grpc::Slice slice(bytes);
      call->WriteLast(grpc::ByteBuffer(&slice, 1), {}, nullptr);
      step();
      grpc::ByteBuffer reply;
      call->Read(&reply, nullptr);
      if (step()) context.TryCancel();
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    step();
    return status;
  }
  bool lives() {
    v1::ServerInfo info;
    return client_->call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), info).status == grpc::StatusCode::OK;
  }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<server::Daemon> daemon_;
  std::unique_ptr<test::ServiceClient> client_;
};

// Field numbers 0, lengths beyond the end, unterminated groups, overlong varints, invalid wire types.
TEST_F(MalformedMessages, AreRefusedByEveryMethod) {
  for (const server::Method& method : server::methods::all) {
    for (const std::string& bytes : {std::string("\0", 1), std::string("\x0a\xff\xff\xff\x0f"),
                                     std::string("\x0b"), std::string(11, '\xff'), std::string("\x0f"),
                                     std::string("\x0a\x05"
                                                 "cut")}) {
      const grpc::Status status = send(method, bytes);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL)
          << method.name << ": " << status.error_message();
    }
  }
  EXPECT_TRUE(lives());
}

// Some of these are messages with unknown fields: the method's own error is accepted.
TEST_F(MalformedMessages, AreHarmlessWhenCutOrRandom) {
  v1::ScheduleRequest request = test::request_for();
  request.add_traces("linear");
  const std::string whole = request.SerializeAsString();
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (const server::Method& method : server::methods::all) {
    for (int n = 0; n < 20; ++n) {
      std::string bytes = whole.substr(0, random() % whole.size());
      if (n % 2 == 0) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
      const grpc::StatusCode code = send(method, bytes).error_code();
      EXPECT_NE(code, grpc::StatusCode::UNAVAILABLE) << method.name;
      EXPECT_NE(code, grpc::StatusCode::DEADLINE_EXCEEDED) << method.name;
    }
  }
  EXPECT_TRUE(lives());
}

}  // namespace
}  // namespace schaas

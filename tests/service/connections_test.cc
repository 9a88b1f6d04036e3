// Before anybody has authenticated: connections, descriptors, compressed messages, reflection.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "server/daemon/daemon.h"
#include "tests/service/http2_connection.h"
#include "tests/service/service_client.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using test::Http2Connection;

class Connections : public testing::Test {
 protected:
  void start(server::DaemonOptions options) {
    options.data_directory = data_;
    options.drain = std::chrono::seconds(0);
    options.listen = {"unix:" + data_ + ".sock", "127.0.0.1:0"};
    daemon_ = server::Daemon::start(options, server::silent_log()).value();
  }
  const std::string& socket() const { return daemon_->addresses()[0]; }
  grpc::StatusCode info(const std::string& address,
                        grpc_compression_algorithm algorithm = GRPC_COMPRESS_NONE) {
    test::ServiceClient client(address);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    context.set_compression_algorithm(algorithm);
    v1::ListCacheRequest request;
    request.set_key(std::string(1000, '0'));
    v1::ListCacheReply reply;
    return client.stub().ListCache(&context, request, &reply).error_code();
  }

  const test_support::TemporaryDirectory directory_;
  const std::string data_ = directory_ / "data";
  std::unique_ptr<server::Daemon> daemon_;
};

/// Returns true when the server speaks on the connection, false when it closes it.
bool is_served(Http2Connection& connection) {
  return connection.say_hello() && connection.next(Http2Connection::settings).has_value();
}

TEST_F(Connections, LeaveHalfToOthersThanOneHost) {
  server::DaemonOptions options;
  options.connections = 8;
  start(options);
  std::vector<std::unique_ptr<Http2Connection>> open;
  for (int n = 0; n < 4; ++n) {
    open.push_back(std::make_unique<Http2Connection>(socket()));
    EXPECT_TRUE(is_served(*open.back())) << n;
  }
  Http2Connection fifth(socket());
  EXPECT_FALSE(is_served(fifth));
  EXPECT_EQ(info(daemon_->addresses()[1]), grpc::StatusCode::INVALID_ARGUMENT) << "another host is served";
  open.pop_back();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool served = false;
  while (!served && std::chrono::steady_clock::now() < end) {
    Http2Connection next(socket());
    served = is_served(next);
  }
  EXPECT_TRUE(served) << "one of the four has ended";
}

TEST_F(Connections, GiveEachHostItsTurn) {
  server::DaemonOptions options;
  options.connections = 1000;
  start(options);
  std::vector<std::unique_ptr<Http2Connection>> open;
  for (int n = 0; n < 500; ++n) open.push_back(std::make_unique<Http2Connection>(socket()));
  std::atomic<bool> over{false};
  std::vector<std::thread> flood;
  for (int n = 0; n < 2; ++n)
    flood.emplace_back([&] {
      while (!over) Http2Connection refused(socket());
    });
  for (int n = 0; n < 5; ++n)
    EXPECT_EQ(info(daemon_->addresses()[1]), grpc::StatusCode::INVALID_ARGUMENT) << n;
  over = true;
  for (std::thread& thread : flood) thread.join();
}

TEST_F(Connections, WaitAtTheBoundAndAreServedOnceOthersEnd) {
  server::DaemonOptions options;
  options.connections = 2;
  start(options);
  auto local = std::make_unique<Http2Connection>(socket());
  EXPECT_TRUE(is_served(*local));
  test::ServiceClient remote(daemon_->addresses()[1]);
  v1::ServerInfo reply;
  EXPECT_EQ(remote.call(&v1::Scheduler::Stub::Info, v1::InfoRequest(), reply).status, grpc::StatusCode::OK);
  Http2Connection waiting(socket());
  ASSERT_TRUE(waiting.say_hello());
  local.reset();
  EXPECT_TRUE(waiting.next(Http2Connection::settings).has_value());
}

// Client and server share the descriptors of this process.
TEST_F(Connections, AreAcceptedAgainAfterDescriptorsRanOut) {
  start({});
  Http2Connection early(socket());
  EXPECT_TRUE(is_served(early));
  const int late = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> fill;
  for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;
       fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
    fill.push_back(fd);
  Http2Connection waiting(late, socket());
  ASSERT_TRUE(waiting.say_hello());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the server fails to accept it
  for (const int fd : fill) ::close(fd);
  EXPECT_TRUE(waiting.next(Http2Connection::settings).has_value());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(info(socket()), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Connections, BringNoCompressedMessages) {
  start({});
  EXPECT_EQ(info(socket()), grpc::StatusCode::INVALID_ARGUMENT) << "a wrong key";
  EXPECT_EQ(info(socket(), GRPC_COMPRESS_GZIP), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(info(socket(), GRPC_COMPRESS_DEFLATE), grpc::StatusCode::UNIMPLEMENTED);
}

/// Asks for the services that the server describes; the status, or the reply.
std::string described_services(const std::string& address) {
  test::ServiceClient client(address);
  grpc::GenericStub stub(client.channel());
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::Slice slice(std::string("\x3a\x00", 2));  // ServerReflectionRequest{list_services: ""}
  grpc::ByteBuffer send(&slice, 1), received;
  auto call = stub.PrepareUnaryCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", send, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(&received, &status, &call);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return "UNIMPLEMENTED";
  if (!status.ok()) return status.error_message();
  grpc::Slice reply;
  EXPECT_TRUE(received.DumpToSingleSlice(&reply).ok());
  return std::string(reinterpret_cast<const char*>(reply.begin()), reply.size());
}

// Its streams are served before any token is asked for.
TEST_F(Connections, GetNoDescriptionOfTheProtocol) {
  start({});
  EXPECT_EQ(described_services(socket()), "UNIMPLEMENTED");
}

}  // namespace
}  // namespace schaas

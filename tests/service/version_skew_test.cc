// A client of this version against servers of other versions.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/support/signature.h"
#include "proto/kernel_abi.h"
#include "schaas/kernel_set.h"
#include "schaas/v1/schaas.grpc.pb.h"
#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

constexpr int this_abi = SCHAAS_KERNEL_ABI_VERSION;

/// Answers as scripted.
class FakeServer final : public v1::Scheduler::Service {
 public:
  grpc::Status Info(grpc::ServerContext*, const v1::InfoRequest*, v1::ServerInfo* info) override {
    info->set_version(version);
    info->set_abi_version(static_cast<std::uint32_t>(abi));
    if (has_key)
      info->set_public_key(support::SigningKey::from_seed(std::string(32, 's')).public_key().text());
    return grpc::Status::OK;
  }
  grpc::Status Lookup(grpc::ServerContext*, const v1::LookupRequest*, v1::Frontier*) override {
    return lookup;
  }
  grpc::Status Schedule(grpc::ServerContext*, const v1::ScheduleRequest*,
                        grpc::ServerWriter<v1::ScheduleEvent>* writer) override {
    ++asked;
    for (const auto& event : events) writer->Write(event);
    return grpc::Status::OK;
  }
  grpc::Status Download(grpc::ServerContext*, const v1::DownloadRequest*,
                        grpc::ServerWriter<v1::DownloadChunk>* writer) override {
    v1::DownloadChunk chunk;
    chunk.set_data(binary);
    writer->Write(chunk);
    return grpc::Status::OK;
  }

  std::string version = "9.1.0", binary;
  int abi = this_abi, asked = 0;
  bool has_key = true;
  grpc::Status lookup = grpc::Status::OK;
  std::vector<v1::ScheduleEvent> events;
};

class Skew : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(&fake_);
    server_ = builder.BuildAndStart();
    ASSERT_TRUE(server_);
  }
  std::string message(const support::Diagnostic& diagnostic) const {
    std::string text = support::render(diagnostic);
    const std::string folder = directory_.path().string();
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;)
      text.replace(at, folder.size(), "DIR");
    return text;
  }
  support::Result<Connection> connect() {
    ConnectOptions options;
    options.server = address_;
    return Connection::open(options);
  }
  std::string asked(bool search_only = false) {
    auto connection = connect();
    if (!connection.ok()) return message(connection.error());
    ScheduleRequest request;
    request.problem.expression = "A(i) = B(i)";
    request.search_only = search_only;
    const auto answer = connection->schedule(request);
    return answer.ok() ? "answered" : message(answer.error());
  }

  test_support::TemporaryDirectory directory_;
  const std::string address_ = "unix:" + directory_.path().string() + "/socket";
  FakeServer fake_;
  std::unique_ptr<grpc::Server> server_;
};

v1::ScheduleEvent done() {
  v1::ScheduleEvent event;
  event.mutable_done();
  return event;
}

TEST_F(Skew, RequestsNoKernelsOfANewerServer) {
  fake_.abi = this_abi + 1;
  EXPECT_EQ(
      asked(),
      "unsupported [server-abi]: the server at unix:DIR/socket, schaas 9.1.0, makes kernels of ABI version " +
          std::to_string(this_abi + 1) + "; this client, schaas 0.1.0, runs version " +
          std::to_string(this_abi) + "\n  note: install the client of the other's version");
  EXPECT_EQ(fake_.asked, 0);
}

TEST_F(Skew, RequestsNoKernelsOfAnOlderServer) {
  fake_.abi = this_abi - 1;
  fake_.version = "0.0.9";
  EXPECT_EQ(
      asked(),
      "unsupported [server-abi]: the server at unix:DIR/socket, schaas 0.0.9, makes kernels of ABI version " +
          std::to_string(this_abi - 1) + "; this client, schaas 0.1.0, runs version " +
          std::to_string(this_abi) + "\n  note: install the server of the other's version");
}

TEST_F(Skew, ReadsFrontiersOfANewerServer) {
  fake_.abi = this_abi + 1;
  fake_.events = {done()};
  EXPECT_EQ(asked(true), "answered");
}

TEST_F(Skew, NamesAnEventOfANewerServer) {
  fake_.events = {{}};
  EXPECT_EQ(
      asked(),
      "internal [server-internal]: the server sent an event that this client does not know; is it newer?");
}

TEST_F(Skew, NamesACostVariableOfANewerServer) {
  v1::ScheduleEvent event;
  event.mutable_kernel()->add_time_terms()->add_variables()->set_kind(static_cast<v1::Variable::Kind>(7));
  fake_.events = {event};
  EXPECT_EQ(asked(),
            "internal [server-internal]: the server sent a cost variable that this client does not know; is "
            "it newer?");
}

TEST_F(Skew, NamesMissingMethodsOfAnOlderServer) {
  fake_.lookup = grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "");
  auto connection = connect();
  ASSERT_TRUE(connection.ok());
  const auto found = connection->lookup({});
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(message(found.error()),
            "unsupported [server-method]: the server at unix:DIR/socket says: ; is it an older schaasd, or "
            "another service?");
}

TEST_F(Skew, NamesAServerWithoutKeys) {
  fake_.has_key = false;
  EXPECT_EQ(asked(),
            "unsupported [server-key-unknown]: the server at unix:DIR/socket has no key: it is older than "
            "this client");
}

TEST_F(Skew, RejectsAnAnswerThatEndsEarly) {
  EXPECT_EQ(asked(), "internal [server-internal]: the server's answer ended early");
}

}  // namespace
}  // namespace schaas::client

// Signed kernels: the server's key, what clients know of it, and the fate of kernels without its signature.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "client/cpp/remote/server_key.h"
#include "schaas/connection.h"
#include "schaas/v1/schaas.grpc.pb.h"
#include "server/auth/signing_key.h"
#include "server/daemon/daemon.h"
#include "tests/support/temporary_directory.h"

namespace schaas {
namespace {

using client::Connection;
using client::ConnectOptions;
using support::PublicKey;
using support::SigningKey;
using testing::HasSubstr;

SigningKey key(char seed) { return SigningKey::from_seed(std::string(32, seed)); }

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class KnownServers : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1); }
  void TearDown() override { unsetenv("XDG_CONFIG_HOME"); }

  static std::string refusal(const PublicKey& shown, const client::KeyCheck& check) {
    const auto outcome = client::check_server_key(shown, check);
    return outcome.ok() ? "trusted" : support::render(outcome.error());
  }
  test_support::TemporaryDirectory directory_;
  std::string file_ = directory_ / "schaas/known_servers";
  const PublicKey a_ = key('a').public_key(), b_ = key('b').public_key();
  // Nobody listens on these.
  const std::string here_ = "127.0.0.1:1", far_ = "example.org:8470";
};

TEST_F(KnownServers, TrustLocalServersOnFirstUse) {
  EXPECT_EQ(refusal(a_, {here_, "", false}), "trusted");
  EXPECT_EQ(content(file_), here_ + " " + a_.text() + "\n");
  EXPECT_EQ(refusal(a_, {here_, "", false}), "trusted");
  EXPECT_EQ(content(file_), here_ + " " + a_.text() + "\n") << "remembered once";
  EXPECT_EQ(refusal(b_, {here_, "", false}), "unreachable [server-key-changed]: the server at " + here_ +
                                                 " has the key " + b_.text() + ", it had " + a_.text() +
                                                 " before\n  note: it was set up anew, or somebody else "
                                                 "answers at its address; when you know that it is the "
                                                 "former, remove line 1 of " +
                                                 file_);
  EXPECT_EQ(refusal(b_, {"127.0.0.1:2", "", false}), "trusted") << "another address, another server";
}

TEST_F(KnownServers, RequireAKeyOfRemoteServers) {
  EXPECT_EQ(refusal(a_, {far_, "", false}),
            "unreachable [server-key-unknown]: the server at " + far_ + " has the key " + a_.text() +
                ", which is not known, and the channel to it proves nothing\n  note: ask its operator for "
                "its key and give "
                "it with --server-key or SCHAAS_SERVER_KEY, or use TLS (--tls-ca)");
  EXPECT_EQ(content(file_), "");
  EXPECT_EQ(refusal(a_, {far_, "", true}), "trusted");
  EXPECT_EQ(refusal(a_, {far_, "", false}), "trusted") << "remembered";
  EXPECT_THAT(refusal(b_, {far_, "", true}), HasSubstr("[server-key-changed]"));
}

TEST_F(KnownServers, RememberNoPrivateServerOfUnknownUsers) {
  EXPECT_EQ(
      refusal(a_, {"unix:/nowhere/s", "", false, true}),
      "unreachable [foreign-server]: the system does not say that the private server at unix:/nowhere/s "
      "runs under your account; nothing of it was loaded");
  EXPECT_EQ(content(file_), "");
}

TEST_F(KnownServers, PreferAGivenKey) {
  EXPECT_EQ(refusal(a_, {far_, a_.text(), false}), "trusted");
  EXPECT_EQ(content(file_), "");
  EXPECT_EQ(refusal(b_, {here_, a_.text(), true}), "unreachable [server-key-mismatch]: the server at " +
                                                       here_ + " has the key " + b_.text() + ", expected " +
                                                       a_.text() +
                                                       "\n  note: nothing of it was loaded; when the server "
                                                       "was set up anew ask its operator for the new key");
  const std::string given = directory_ / "key";
  std::ofstream(given) << a_.text() << "\n";
  EXPECT_EQ(refusal(a_, {far_, given, false}), "trusted");
  EXPECT_THAT(refusal(b_, {far_, given, false}), HasSubstr("[server-key-mismatch]"));
  EXPECT_THAT(refusal(a_, {far_, "ed25519:12", false}),
              HasSubstr("invalid [public-key]: `ed25519:12` is no server's key"));
  EXPECT_THAT(refusal(a_, {far_, given + "?", false}),
              HasSubstr("invalid [server-key-file]: no key can be read from"));
}

// ---- the server's side ----

TEST(SigningKeys, AreMadeOnceAndForTheirOwnerAlone) {
  test_support::TemporaryDirectory directory;
  const std::string path = directory / "signing.key";
  const auto made = server::open_signing_key(path);
  ASSERT_TRUE(made.ok()) << support::render(made.error());
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(server::open_signing_key(path)->public_key(), made->public_key());
  EXPECT_NE(server::open_signing_key(directory / "another")->public_key().text(), made->public_key().text());

  chmod(path.c_str(), 0640);
  EXPECT_EQ(support::render(server::open_signing_key(path).error()),
            "invalid [signing-key]: others than its owner may read or write the signing key `" + path +
                "`\n  note: `chmod 600 " + path +
                "`; when somebody may have read it, remove it: a new one is made");
  chmod(path.c_str(), 0600);
  std::ofstream(path) << "nonsense";
  EXPECT_THAT(support::render(server::open_signing_key(path).error()),
              HasSubstr("invalid [signing-key]: `" + path + "` is not an Ed25519 private key in PEM"));
  EXPECT_EQ(support::render(server::open_signing_key(directory / "none/signing.key").error()),
            "invalid [signing-key]: cannot make the signing key `" + (directory / "none/signing.key") +
                "`: No such file or directory");
}

class SignedKernels : public testing::Test {
 protected:
  void SetUp() override {
    server::DaemonOptions options;
    options.data_directory = directory_ / "data";
    options.listen = {"unix:" + (directory_ / "s"), "127.0.0.1:0"};
    auto daemon = server::Daemon::start(options, server::silent_log());
    ASSERT_TRUE(daemon.ok()) << support::render(daemon.error());
    daemon_ = std::move(daemon).value();
  }
  Connection connect(std::size_t address = 0, const std::string& expected = "") const {
    ConnectOptions options;
    options.server = daemon_->addresses()[address];
    options.server_key = expected;
    return Connection::open(options).value();
  }
  static client::KernelInfo a_kernel(Connection& connection) {
    client::ScheduleRequest request;
    request.problem.expression = "y(i) = B(i,j) * x(j)";
    request.problem.formats = {{"B", "csr"}};
    request.isa = "x86-64-v2";
    request.traces = {"linear"};
    request.traces_only = true;
    const auto answer = connection.schedule(request);
    EXPECT_TRUE(answer.ok()) << support::render(answer.error());
    return answer->kernels.back();
  }
  test_support::TemporaryDirectory directory_;
  std::unique_ptr<server::Daemon> daemon_;
};

TEST_F(SignedKernels, AreDownloadedUnderEveryAddressOfTheServer) {
  for (const std::size_t address : {0u, 1u}) {
    Connection connection = connect(address);
    const client::KernelInfo kernel = a_kernel(connection);
    EXPECT_EQ(kernel.signature.size(), 128u);
    EXPECT_TRUE(connection.download(kernel).ok());
  }
}

TEST_F(SignedKernels, AreNotDownloadedWithoutAValidSignature) {
  Connection connection = connect();
  const client::KernelInfo good = a_kernel(connection);
  std::vector<client::KernelInfo> wrong(7, good);
  wrong[0].signature[7] = wrong[0].signature[7] == '0' ? '1' : '0';
  wrong[1].signature.clear();
  wrong[2].digest = support::digest_of("other bytes");
  wrong[3].kernel_key[0] = wrong[3].kernel_key[0] == '0' ? '1' : '0';
  wrong[4].isa = "x86-64-v4";
  wrong[5].digest.bytes += 1;
  wrong[6].problem_key = support::digest_of("another problem").sha256;
  const std::string public_key = connection.info()->public_key;
  for (const auto& kernel : wrong) {
    const auto outcome = connection.download(kernel);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, "kernel-signature");
    EXPECT_EQ(outcome.error().message,
              "the kernel of schedule `linear` from the server at " + connection.address() +
                  " is not signed for this problem by the key " + public_key + "; it was not loaded");
  }
}

/// Forwards another server's identity, and sends bytes of its own.
class Liar final : public v1::Scheduler::Service {
 public:
  Liar(const std::string& truth, std::string bytes)
      : truth_(v1::Scheduler::NewStub(grpc::CreateChannel(truth, grpc::InsecureChannelCredentials()))),
        bytes_(std::move(bytes)) {}
  grpc::Status Info(grpc::ServerContext*, const v1::InfoRequest* request, v1::ServerInfo* reply) override {
    grpc::ClientContext context;
    return truth_->Info(&context, *request, reply);
  }
  grpc::Status Download(grpc::ServerContext*, const v1::DownloadRequest*,
                        grpc::ServerWriter<v1::DownloadChunk>* writer) override {
    v1::DownloadChunk chunk;
    chunk.set_data(bytes_);
    writer->Write(chunk);
    return grpc::Status::OK;
  }

 private:
  std::unique_ptr<v1::Scheduler::Stub> truth_;
  std::string bytes_;
};

/// Forwards another server's answers to a problem of its own choice, with the frontier of the one that was
/// asked where `keeps_frontier`.
class Exchanger final : public v1::Scheduler::Service {
 public:
  Exchanger(const std::string& truth, bool keeps_frontier)
      : truth_(v1::Scheduler::NewStub(grpc::CreateChannel(truth, grpc::InsecureChannelCredentials()))),
        keeps_frontier_(keeps_frontier) {}
  grpc::Status Info(grpc::ServerContext*, const v1::InfoRequest* request, v1::ServerInfo* reply) override {
    grpc::ClientContext context;
    return truth_->Info(&context, *request, reply);
  }
  grpc::Status Schedule(grpc::ServerContext*, const v1::ScheduleRequest* request,
                        grpc::ServerWriter<v1::ScheduleEvent>* writer) override {
    v1::ScheduleRequest other = *request;
    other.mutable_problem()->set_expression("y(j) = B(i,j) * x(i)");
    if (!keeps_frontier_) return forward(other, true, true, *writer);
    forward(*request, true, false, *writer);
    return forward(other, false, true, *writer);
  }
  grpc::Status Lookup(grpc::ServerContext*, const v1::LookupRequest* request, v1::Frontier* reply) override {
    v1::LookupRequest other = *request;
    other.mutable_problem()->set_expression("y(j) = B(i,j) * x(i)");
    grpc::ClientContext context;
    return truth_->Lookup(&context, other, reply);
  }
  grpc::Status Download(grpc::ServerContext*, const v1::DownloadRequest* request,
                        grpc::ServerWriter<v1::DownloadChunk>* writer) override {
    downloads_ += 1;
    grpc::ClientContext context;
    const auto reader = truth_->Download(&context, *request);
    for (v1::DownloadChunk chunk; reader->Read(&chunk);) writer->Write(chunk);
    return reader->Finish();
  }
  int downloads() const { return downloads_; }

 private:
  grpc::Status forward(const v1::ScheduleRequest& request, bool frontiers, bool others,
                       grpc::ServerWriter<v1::ScheduleEvent>& writer) {
    grpc::ClientContext context;
    const auto reader = truth_->Schedule(&context, request);
    for (v1::ScheduleEvent event; reader->Read(&event);) {
      if (event.has_frontier() ? frontiers : others) writer.Write(event);
    }
    return reader->Finish();
  }
  std::unique_ptr<v1::Scheduler::Stub> truth_;
  const bool keeps_frontier_;
  std::atomic<int> downloads_{0};
};

class ExchangedKernels : public SignedKernels {
 protected:
  Connection connect_through(Exchanger& exchanger) {
    grpc::ServerBuilder builder;
    const std::string address = "unix:" + (directory_ / "exchanger");
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&exchanger);
    server_ = builder.BuildAndStart();
    ConnectOptions options;
    options.server = address;
    return Connection::open(options).value();
  }
  static client::ScheduleRequest matrix_times_vector() {
    client::ScheduleRequest request;
    request.problem.expression = "y(i) = B(i,j) * x(j)";
    request.problem.formats = {{"B", "csr"}};
    request.isa = "x86-64-v2";
    request.kernels = 1;
    return request;
  }
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(ExchangedKernels, AreRefusedWithTheWholeAnswerToAnotherProblem) {
  Exchanger exchanger(daemon_->addresses()[0], false);
  Connection connection = connect_through(exchanger);
  const auto answer = connection.schedule(matrix_times_vector());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(support::render(answer.error()),
              HasSubstr("invalid [answer-mismatch]: the answer from the server at " + connection.address() +
                        " is not to the problem that was asked: it differs in the problem; nothing of it was "
                        "used\n  note: "));
  EXPECT_EQ(connection.lookup(matrix_times_vector().problem).error().code, "answer-mismatch");
}

TEST_F(ExchangedKernels, AreNotDownloadedForTheFrontierOfTheRightProblem) {
  Exchanger exchanger(daemon_->addresses()[0], true);
  Connection connection = connect_through(exchanger);
  const auto answer = connection.schedule(matrix_times_vector());
  ASSERT_TRUE(answer.ok()) << support::render(answer.error());
  ASSERT_FALSE(answer->kernels.empty());
  for (const auto& kernel : answer->kernels)
    EXPECT_EQ(connection.download(kernel).error().code, "kernel-signature");
  EXPECT_EQ(exchanger.downloads(), 0);
}

// The signature is right, the bytes are not: changed, cut, too long.
TEST_F(SignedKernels, AreRejectedWhenChangedInTransit) {
  Connection connection = connect();
  const client::KernelInfo kernel = a_kernel(connection);
  const std::string right = connection.download(kernel).value();
  std::string changed = right;
  changed[changed.size() / 2] ^= 1;
  for (const std::string& sent : {changed, right.substr(1), right + "x"}) {
    Liar liar(daemon_->addresses()[0], sent);
    grpc::ServerBuilder builder;
    const std::string address = "unix:" + (directory_ / "liar");
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(&liar);
    const auto server = builder.BuildAndStart();
    ConnectOptions options;
    options.server = address;
    const auto outcome = Connection::open(options).value().download(kernel);
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(support::render(outcome.error()), "invalid [kernel-digest]: the server at " + address +
                                                    " sent " + std::to_string(sent.size()) +
                                                    " bytes that are not the binary " + kernel.digest.sha256 +
                                                    " (" + std::to_string(kernel.digest.bytes) + " bytes)");
  }
}

TEST_F(SignedKernels, NeedTheKeyThatWasPinned) {
  Connection connection = connect();
  const std::string right = connection.info()->public_key;
  EXPECT_EQ(connect(1, right).info()->public_key, right);
  ConnectOptions options;
  options.server = daemon_->addresses()[1];
  options.server_key = key('z').public_key().text();
  EXPECT_EQ(Connection::open(options).error().code, "server-key-mismatch");
}

}  // namespace
}  // namespace schaas

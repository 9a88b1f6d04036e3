// Isolation of children. Each test is run with and without the isolation, so that it fails for no other
// reason.
#include "compiler/toolchain/isolation.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "compiler/toolchain/child_process.h"
#include "tests/support/temporary_directory.h"

namespace schaas::toolchain {
namespace {

using testing::HasSubstr;

class IsolatedChild : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(outside_ / "secret") << "the secret\n"; }

  ChildResult run(const std::string& script, bool isolated = true,
                  std::vector<std::string> readable = {}) const {
    ChildOptions options;
    options.program = "/bin/bash";
    options.arguments = {"-c", script};
    options.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
    options.working_directory = inside_.path();
    options.isolated = isolated;
    options.readable = std::move(readable);
    return run_child(options, support::Cancellation()).value();
  }
  test_support::TemporaryDirectory inside_, outside_;
  const Isolation offered_ = offered_isolation();
};

TEST_F(IsolatedChild, ReadsNothingOfOthers) {
  if (!offered_.files) GTEST_SKIP() << "this system has no Landlock";
  const std::string script = "cat " + (outside_ / "secret") + "; ls " + outside_.path().string();
  EXPECT_THAT(run(script, false).output, HasSubstr("the secret"));
  const ChildResult isolated = run(script);
  EXPECT_EQ(isolated.output, "cat: " + (outside_ / "secret") +
                                 ": Permission denied\nls: cannot open directory '" +
                                 outside_.path().string() + "': Permission denied\n");
  EXPECT_THAT(run("bash -c \"" + script + "\"").output, HasSubstr("Permission denied"))
      << "nor does its child";
  EXPECT_THAT(run(script, true, {outside_.path()}).output, HasSubstr("the secret")) << "unless it may";
}

TEST_F(IsolatedChild, WritesIntoItsOwnDirectoryAlone) {
  if (!offered_.files) GTEST_SKIP() << "this system has no Landlock";
  const std::string elsewhere = "echo x > " + (outside_ / "new");
  EXPECT_EQ(run("echo x > here && mkdir folder && mv here folder/there && rm -r folder").exit_code, 0);
  EXPECT_EQ(run(elsewhere).exit_code, 1);
  EXPECT_EQ(run("rm " + (outside_ / "secret")).exit_code, 1);
  EXPECT_EQ(run(elsewhere, true, {outside_.path()}).exit_code, 1) << "readable is not writable";
  EXPECT_FALSE(std::filesystem::exists(outside_ / "new"));
  EXPECT_TRUE(std::filesystem::exists(outside_ / "secret"));
  EXPECT_EQ(run(elsewhere, false).exit_code, 0);
}

TEST_F(IsolatedChild, LeavesOtherProcessesAlone) {
  if (!offered_.signals) GTEST_SKIP() << "this system's Landlock knows nothing of signals";
  const std::string ours = std::to_string(getpid());
  EXPECT_EQ(run("kill -0 " + ours, false).exit_code, 0);
  EXPECT_EQ(run("kill -0 " + ours).exit_code, 1);
  EXPECT_EQ(run("cat /proc/" + ours + "/environ > all").exit_code, 1);
  EXPECT_EQ(run("sleep 60 & kill $!").exit_code, 0) << "its own it may end";
}

// A socket of ours that listens on the loopback interface.
class Listener {
 public:
  Listener() : file_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(file_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(file_, 4), 0);
    getsockname(file_, reinterpret_cast<sockaddr*>(&address), &bytes);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(file_); }
  std::string port() const { return std::to_string(port_); }
  bool was_called() const {
    const int caller = accept(file_, nullptr, nullptr);
    if (caller >= 0) close(caller);
    return caller >= 0;
  }

 private:
  int file_;
  int port_ = 0;
};

TEST_F(IsolatedChild, HasNoNetwork) {
  if (!offered_.network) GTEST_SKIP() << "this system has no seccomp";
  const Listener listener;
  const std::string script = "exec 3<>/dev/tcp/127.0.0.1/" + listener.port();
  EXPECT_EQ(run(script).exit_code, 1);
  EXPECT_FALSE(listener.was_called());
  EXPECT_EQ(run(script, false).exit_code, 0);
  EXPECT_TRUE(listener.was_called());
  EXPECT_NE(run("unshare -U true").exit_code, 0);
}

TEST(Isolation, IsToldInWords) {
  EXPECT_EQ(print({}), "none");
  EXPECT_EQ(print({true, false, true}), "files, network");
  EXPECT_EQ(print({true, true, true}), "files, signals, network");
}

}  // namespace
}  // namespace schaas::toolchain

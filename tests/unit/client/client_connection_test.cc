// Reaching a server: addresses, a server that is not there, a private server that does not start.
#include "schaas/connection.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/cpp/remote/server_address.h"
#include "client/cpp/remote/status.h"
#include "tests/support/temporary_directory.h"

namespace schaas::client {
namespace {

class Connecting : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("SCHAAS_SERVER");
    unsetenv("XDG_RUNTIME_DIR");
  }
  void TearDown() override { unsetenv("SCHAAS_SERVER_BINARY"); }

  std::string message(const ConnectOptions& options) {
    const auto connection = Connection::open(options);
    if (connection.ok()) return "connected";
    std::string text = support::render(connection.error());
    for (std::size_t at; (at = text.find(folder_)) != std::string::npos;)
      text.replace(at, folder_.size(), "DIR");
    return text;
  }
  std::string message(const std::string& server) {
    ConnectOptions options;
    options.server = server;
    return message(options);
  }
  // A private server whose program is this shell script.
  std::string started_with(const std::string& script,
                           std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    const std::string program = folder_ + "/program";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    chmod(program.c_str(), 0700);
    setenv("SCHAAS_SERVER_BINARY", program.c_str(), 1);
    ConnectOptions options;
    options.data_directory = folder_ + "/data";
    options.start_limit = limit;
    return message(options);
  }
  test_support::TemporaryDirectory directory_;
  const std::string folder_ = directory_.path();
};

TEST_F(Connecting, refuses_what_is_no_address) {
  for (const char* address : {"localhost", "localhost:", ":80", "localhost:http", "localhost:99999",
                              "unix:", "unix:relative", "http://localhost:80"}) {
    EXPECT_EQ(message(address), "invalid [server-address]: `" + std::string(address) +
                                    "` is no server address; expected unix:/absolute/path or host:port");
  }
}

TEST(Addresses, OfANameAreTriedInTurn) {
  const std::vector<std::string> two = {"10.0.0.1", "10.0.0.2"};
  EXPECT_EQ(target_among("s.example:8470", two, 0).uri, "ipv4:10.0.0.1:8470,10.0.0.2:8470");
  EXPECT_EQ(target_among("s.example:8470", two, 3).uri, "ipv4:10.0.0.2:8470,10.0.0.1:8470");
  EXPECT_EQ(target_among("s.example:8470", two, 3).host, "s.example");
  EXPECT_EQ(target_among("s.example:80", {"fd00::1", "fd00::2"}, 1).uri,
            "ipv6:%5Bfd00::2%5D:80,%5Bfd00::1%5D:80");
}

TEST(Addresses, OfOneMachineAreLookedUpByTheChannel) {
  for (const char* address : {"unix:/run/s", "10.0.0.1:80", "[::1]:80", "no-such-name.invalid:80"}) {
    EXPECT_EQ(target_of(address, 1).uri, address);
    EXPECT_EQ(target_of(address, 1).host, "");
  }
  EXPECT_EQ(target_among("s.example:80", {"10.0.0.1"}, 1).uri, "s.example:80");
}

TEST_F(Connecting, refuses_long_socket_paths) {
  const std::string path = "/tmp/" + std::string(120, 'x');
  EXPECT_EQ(message("unix:" + path), "invalid [socket-path]: the socket path " + path +
                                         " has 125 bytes; Unix sockets allow 107\n"
                                         "  note: set XDG_RUNTIME_DIR, or choose a shorter data directory");
}

TEST_F(Connecting, TellsARefusedSocketFromAMissingServer) {
  EXPECT_EQ(support::render(server_down("unix:/run/s", "failed to connect: Permission denied")),
            "unreachable [socket-permission]: this user may not connect to unix:/run/s: failed to connect: "
            "Permission denied\n  note: its operator sets `socket-mode` (schaasd.toml) to 660 and adds this "
            "user to the socket's group");
}

TEST_F(Connecting, says_what_to_do_when_no_server_is_there) {
  ConnectOptions options;
  options.server = "unix:" + folder_ + "/none.sock";
  const auto connection = Connection::open(options);
  ASSERT_FALSE(connection.ok());
  EXPECT_EQ(connection.error().family, support::Family::unreachable);
  EXPECT_EQ(connection.error().code, "server-down");
  EXPECT_EQ(connection.error().message.find("no server answers at unix:" + folder_ + "/none.sock: "), 0U);
  EXPECT_EQ(connection.error().notes,
            (std::vector<std::string>{
                "start one with `schaasd --listen unix:" + folder_ +
                "/none.sock`, name another with SCHAAS_SERVER, or unset SCHAAS_SERVER to use a "
                "private one"}));
}

TEST_F(Connecting, names_a_server_program_that_is_not_there) {
  setenv("SCHAAS_SERVER_BINARY", (folder_ + "/missing").c_str(), 1);
  ConnectOptions options;
  options.data_directory = folder_;
  EXPECT_EQ(message(options),
            "unreachable [server-program]: SCHAAS_SERVER_BINARY is DIR/missing, which is no program");
}

TEST_F(Connecting, shows_what_a_server_said_that_did_not_start) {
  EXPECT_EQ(
      started_with("echo \"no room for $*\"; exit 3"),
      "unreachable [server-start]: the private server DIR/program did not start: it exited with status 3\n"
      "  note: it said: no room for --private --data-dir DIR/data --listen unix:DIR/data/schaasd.sock\n"
      "  note: its files are in DIR/data");
}

TEST_F(Connecting, gives_up_on_a_server_that_never_listens) {
  EXPECT_EQ(
      started_with("exec sleep 60", std::chrono::milliseconds(200)),
      "unreachable [server-start]: the private server DIR/program did not start: it did not listen in time\n"
      "  note: its files are in DIR/data");
}

TEST_F(Connecting, refuses_a_data_directory_that_is_a_file) {
  std::ofstream(folder_ + "/file") << "x";
  ConnectOptions options;
  options.data_directory = folder_ + "/file/data";
  EXPECT_EQ(message(options),
            "invalid [data-directory]: the data directory DIR/file/data cannot be used: Not a directory");
}

TEST_F(Connecting, private_sockets_are_in_the_runtime_directory_when_there_is_one) {
  EXPECT_EQ(private_socket_path("/some/data"), "/some/data/schaasd.sock");
  setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  const std::string path = private_socket_path("/some/data");
  EXPECT_EQ(path.find(folder_ + "/schaas-"), 0U);
  EXPECT_EQ(path, private_socket_path("/some/./data"));
  EXPECT_NE(path, private_socket_path("/other/data"));
  unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace schaas::client

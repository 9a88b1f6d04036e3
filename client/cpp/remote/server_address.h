#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::client {

struct ConnectOptions;
/// Returns the address of the server: as given, $SCHAAS_SERVER, else the socket of the private one.
std::string server_address(const ConnectOptions& options);
/// The options name the private server.
bool means_private(const ConnectOptions& options);

/// Accepts "unix:/absolute/path" and "host:port". Errors: invalid [server-address], [socket-path].
support::Result<void> check_address(const std::string& address);
/// Splits "a:8470,b:8470".
std::vector<std::string> addresses_in(const std::string& list);
/// Target of a channel.
struct Target {
  std::string uri;
  std::string host;  ///< named by the server's certificate; "": the one in `uri`
};
/// Looks up the host of an address that check_address accepts. Where its name has several machines, the
/// channel tries them in turn, from number `first` on. Else gRPC looks it up by itself.
Target target_of(const std::string& address, std::size_t first);
/// The same for numeric hosts that were found, all of one family: "10.0.0.1", "fd00::1".
Target target_among(const std::string& address, const std::vector<std::string>& hosts, std::size_t first);
/// invalid [socket-path] when `path` is longer than a Unix socket's may be (107 bytes).
support::Result<void> check_socket_path(const std::string& path);
/// Returns the user whose process accepts connections on the Unix socket at `path`, as the system reports the
/// peer; none: no process does.
std::optional<uid_t> listener_of(const std::string& path);
/// A Unix socket, or the loopback interface. Of an address that check_address accepts.
bool is_on_this_machine(const std::string& address);
/// The system reports `user` as the owner of the listener at an address on this machine.
bool answers_as(const std::string& address, uid_t user);

}  // namespace schaas::client

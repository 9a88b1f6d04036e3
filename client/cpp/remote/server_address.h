#pragma once
#include <sys/types.h>

#include <string>

#include "compiler/support/result.h"

namespace schaas::client {

struct ConnectOptions;
/// Where the server is that they mean: as given, $SCHAAS_SERVER, else the socket of the private one.
std::string server_address(const ConnectOptions& options);
/// Whether they mean the private server.
bool means_private(const ConnectOptions& options);

/// Accepts "unix:/absolute/path" and "host:port". Errors: invalid [server-address], [socket-path].
support::Result<void> check_address(const std::string& address);
/// invalid [socket-path] when `path` is longer than a Unix socket's may be (107 bytes).
support::Result<void> check_socket_path(const std::string& path);
/// Whether something accepts connections on the Unix socket at `path`.
bool socket_answers(const std::string& path);
/// A Unix socket, or the loopback interface. Of an address that check_address accepts.
bool is_on_this_machine(const std::string& address);
/// Whether the system says that who listens at an address on this machine is `user`.
bool answers_as(const std::string& address, uid_t user);

}  // namespace schaas::client

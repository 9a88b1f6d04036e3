#pragma once
#include <string>

#include "compiler/support/result.h"

namespace schaas::server {

/// Where a server listens: "unix:/absolute/path" or "host:port" (port 0: any free one; an IPv6 host in
/// brackets).
struct ListenAddress {
  bool is_unix = false;
  std::string path;  ///< unix: the socket's file
  std::string host;
  int port = 0;

  /// Reached from this machine alone.
  bool is_local() const;
  /// As gRPC wants it, and as it is printed.
  std::string text() const;
};

/// Errors: invalid [listen] saying what was expected.
support::Result<ListenAddress> parse_listen_address(const std::string& text);

/// Whether a socket could be made at `path`, but for a server that answers there. Errors: invalid [listen]
/// when its folder cannot be written, or a file of the name is no socket.
support::Result<void> check_socket(const std::string& path);

/// Makes way for a socket at `path`: removes the file a dead server left. Errors: unreachable [socket-in-use]
/// when a living server answers there; invalid [listen] when the file is no socket or cannot be removed.
support::Result<void> clear_stale_socket(const std::string& path);

}  // namespace schaas::server

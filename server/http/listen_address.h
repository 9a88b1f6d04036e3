#pragma once
#include <string>

#include "compiler/support/result.h"

namespace schaas::server {

/// An address to listen on: "unix:/absolute/path" or "host:port" (port 0: any free one; an IPv6 host in
/// brackets).
struct ListenAddress {
  bool is_unix = false;
  std::string path;  ///< unix: the socket's file
  std::string host;
  int port = 0;

  /// Returns true for addresses reachable from this machine alone.
  bool is_local() const;
  /// Prints the address in gRPC's form.
  std::string text() const;
};

/// Parses an address. Errors: invalid [listen] naming the expected form.
support::Result<ListenAddress> parse_listen_address(const std::string& text);

/// Checks that a socket could be created at `path`, ignoring a server that listens there. Errors: invalid
/// [listen] when its folder cannot be written, or a file of the name is no socket.
support::Result<void> check_socket(const std::string& path);

/// Removes the socket file of a dead server. Errors: unreachable [socket-in-use] when a living server listens
/// there; invalid [listen] when the file is no socket or cannot be removed.
support::Result<void> clear_stale_socket(const std::string& path);

}  // namespace schaas::server

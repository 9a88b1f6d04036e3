#pragma once
#include <memory>

#include "compiler/support/result.h"
#include "schaas/connection.h"

namespace schaas::client {

/// Returns true when nobody is there, or not for long: another server may be. False when it is somebody else,
/// or refuses.
inline bool is_gone(const support::Diagnostic& error) {
  return error.code == "server-down" || error.code == "server-program" || error.code == "server-start" ||
         error.code == "stopping";
}

/// Connects to a server; errors are those of Connection::open. A program that links the client library has
/// the connection itself (linked_server.cc), libschaas.so loads the library that has it (loaded_server.cc).
support::Result<std::shared_ptr<ServerSource>> open_server(const ConnectOptions& options);

}  // namespace schaas::client

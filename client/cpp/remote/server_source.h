#pragma once
#include <memory>

#include "compiler/support/result.h"
#include "schaas/connection.h"

namespace schaas::client {

/// Connects to a server; errors are those of Connection::open. A program that links the client library has
/// the connection itself (linked_server.cc), libschaas.so loads the library that has it (loaded_server.cc).
support::Result<std::shared_ptr<ServerSource>> open_server(const ConnectOptions& options);

}  // namespace schaas::client

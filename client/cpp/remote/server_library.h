#pragma once
#include <memory>
#include <optional>

#include "schaas/connection.h"

/// The border between libschaas.so and libschaas-remote.so, which has gRPC and Protocol Buffers within it and
/// is loaded at the first connection. Both are of one build: the second is looked for under its full version.
///
/// gRPC cannot be used in a child after fork(): parent and child share the descriptor by which it waits, and
/// each takes the other's events. So a child leaves the parent's connections as they are and loads the
/// library once more, as a copy with state of its own. For this gRPC is linked statically, without a symbol
/// to the outside, and messages are those of the lite runtime, which registers nothing.
namespace schaas::client {

struct OpenedServer {
  std::shared_ptr<ServerSource> source;
  std::optional<support::Diagnostic> error;  ///< set where there is no source
};

/// Interface of the library. `schaas_note_library_file`, called before anything else: the file it was copied
/// from.
using NoteLibraryFile = void(const char* path);
/// `schaas_open_server`: Connection::open().
using OpenServer = void(const ConnectOptions& options, OpenedServer& opened);

}  // namespace schaas::client

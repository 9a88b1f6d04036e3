#pragma once
#include <chrono>
#include <stop_token>
#include <string>

#include "compiler/support/result.h"

namespace schaas::client {

/// Makes sure that the private server of a data directory is listening, starting it if need be; true when
/// this call started it. Clients that ask at the same time agree through a lock file, so one server is
/// started.
///
///     DIR/start.lock   held while somebody starts the server
///     DIR/schaasd.out  what the server printed while starting
///     DIR/schaasd.log  its log
///
/// Errors: invalid [data-directory], [socket-path], [socket-folder] (not the user's alone); unreachable
/// [foreign-server] (of another user), [server-program], [server-start]; exhausted [deadline], [cancelled]
/// (by `stop`; a server that was started goes on).
support::Result<bool> ensure_private_server(const std::string& data_directory,
                                            std::chrono::milliseconds limit,
                                            const std::stop_token& stop = {});

/// Says which file this code was loaded from, for a copy that has no name (server_library.h). Not
/// thread-safe.
void note_library_file(const std::string& path);

/// The daemon's program: $SCHAAS_SERVER_BINARY, else `schaasd` beside this program, else on PATH.
support::Result<std::string> server_program();

}  // namespace schaas::client

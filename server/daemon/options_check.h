#pragma once
#include <vector>

#include "server/daemon/daemon.h"
#include "server/http/listen_address.h"

namespace schaas::server {

/// Parses the listen addresses; without any, the socket in the data directory. Errors: those of
/// parse_listen_address.
support::Result<std::vector<ListenAddress>> addresses_of(const DaemonOptions& options);

/// Checks everything that can be known before a start, without creating, changing or locking anything; may
/// run beside a daemon with the same options. `Daemon::start` begins with it, `schaasd --check-config` is it.
/// Unknown before the start: whether data directory and addresses are free, and the databases sound. Errors:
/// those of DataDirectory::check, check_signing_key, addresses_of, check_socket, check_tls, read_tokens,
/// check_http_address; invalid [insecure-listen].
support::Result<void> check_options(const DaemonOptions& options);

}  // namespace schaas::server

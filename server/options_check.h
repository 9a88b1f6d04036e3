#pragma once
#include <vector>

#include "server/daemon.h"
#include "server/listen_address.h"

namespace schaas::server {

/// Where the options say to listen; when they say nothing, the socket in the data directory. Errors: those of
/// parse_listen_address.
support::Result<std::vector<ListenAddress>> addresses_of(const DaemonOptions& options);

/// Whether a daemon could start with these options, as far as can be known without making, changing or taking
/// anything, also beside one that runs with them: `Daemon::start` begins with it, `schaasd --check-config` is
/// it. Not known before the start: whether data directory and addresses are free, and the databases sound.
/// Errors: those of DataDirectory::check, check_signing_key, addresses_of, check_socket, check_tls,
/// read_tokens, check_http_address; invalid [insecure-listen].
support::Result<void> check_options(const DaemonOptions& options);

}  // namespace schaas::server

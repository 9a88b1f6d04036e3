#pragma once
#include <memory>

#include "client/cpp/remote/client_cache.h"
#include "schaas/connection.h"

namespace schaas::client {

/// Opens a server behind the client's cache. Answers are kept and binaries are downloaded once. When the
/// server is gone, cached answers replace it, and notice() says so. The next call reconnects to a server that
/// went, such as an idle private one, and starts it. Errors: those of Connection::open where there is no
/// server and nothing was kept of it.
support::Result<std::shared_ptr<KernelSource>> open_cached(const ConnectOptions& options,
                                                           std::unique_ptr<ClientCache> cache);

}  // namespace schaas::client

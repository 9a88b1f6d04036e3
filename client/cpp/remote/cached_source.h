#pragma once
#include <memory>

#include "client/cpp/remote/client_cache.h"
#include "schaas/connection.h"

namespace schaas::client {

/// A server with the client's cache before it: what it answered is kept, binaries are downloaded once, and
/// when it is gone what was kept answers in its place; notice() then says so. A server that went (an idle
/// private one) is connected to again, and started, by the next call. Errors: those of Connection::open where
/// there is no server and nothing was kept of it.
support::Result<std::shared_ptr<KernelSource>> open_cached(const ConnectOptions& options,
                                                           std::unique_ptr<ClientCache> cache);

}  // namespace schaas::client

#pragma once
#include <memory>

#include "server/auth/kernel_signer.h"
#include "server/providers/kernel_provider.h"
#include "server/storage/cache_evictor.h"
#include "server/storage/stores.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Serves stored answers, across restarts. A stored frontier must have the same problem, search options and
/// search version. A relaxed problem's frontier serves as well, when its survivors are proven to subsume the
/// query (relaxed_frontier.h). A kernel is a hit only when its bytes have the right digest: a missing or
/// damaged binary is recompiled. A failed read is logged and counts as a miss. A failed write of a frontier
/// is logged, of a binary is an error, since the client could not download it.
///
/// Kernels are signed when they are stored, not when they are sent. A row changed without the key has an
/// invalid signature, which is a miss with a warning.
std::unique_ptr<KernelProvider> make_caching_provider(std::unique_ptr<KernelProvider> next, Stores stores,
                                                      std::shared_ptr<KernelSigner> signer, Log log,
                                                      std::shared_ptr<CacheEvictor> evictor = nullptr);

}  // namespace schaas::server

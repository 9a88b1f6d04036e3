#pragma once
#include <memory>

#include "server/cache_keeper.h"
#include "server/kernel_provider.h"
#include "server/kernel_signer.h"
#include "server/log.h"
#include "server/stores.h"

namespace schaas::server {

/// Why: the second person who asks never pays again, also after a restart. A stored frontier must be of the
/// same problem, search options and search version; or of a problem with looser constraints, when its
/// survivors are proven to be all that can matter (looser_answer.h): then only they are compared again. A
/// kernel counts as stored only when its bytes are there with the right digest: a missing or damaged binary
/// is compiled again unasked. A store that fails to read is logged and treated as a miss; one that fails to
/// write a frontier is logged (the answer is still right); one that fails to write a binary is an error,
/// since the client could not download it.
///
/// Kernels are signed when they are stored, not when they are sent: whoever changes the stores without having
/// the key gives a row a signature that does not fit, and that is a miss with a warning.
std::unique_ptr<KernelProvider> make_caching_provider(std::unique_ptr<KernelProvider> next, Stores stores,
                                                      std::shared_ptr<KernelSigner> signer, Log log,
                                                      std::shared_ptr<CacheKeeper> keeper = nullptr);

}  // namespace schaas::server

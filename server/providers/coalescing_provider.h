#pragma once
#include <memory>

#include "server/providers/kernel_provider.h"

namespace schaas::server {

/// Merges equal concurrent requests: a problem that becomes popular at once is searched and compiled once.
/// Requests that joined count as hits.
std::unique_ptr<KernelProvider> make_coalescing_provider(std::unique_ptr<KernelProvider> next);

}  // namespace schaas::server

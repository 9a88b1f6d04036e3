#pragma once
#include <memory>

#include "server/kernel_provider.h"

namespace schaas::server {

/// Why: when a popular problem is new, everybody asks for it at once; it is searched and compiled once. Those
/// who waited get the answer as a hit (nothing was done for them).
std::unique_ptr<KernelProvider> make_coalescing_provider(std::unique_ptr<KernelProvider> next);

}  // namespace schaas::server

#pragma once
#include <memory>

#include "server/providers/kernel_provider.h"

namespace schaas::server {

/// The innermost provider: searches and compiles, every time.
std::unique_ptr<KernelProvider> make_compiling_provider(std::shared_ptr<toolchain::Toolchain> toolchain);

}  // namespace schaas::server

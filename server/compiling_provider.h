#pragma once
#include <memory>

#include "server/kernel_provider.h"

namespace schaas::server {

/// The bottom of the stack: searches and compiles, every time.
std::unique_ptr<KernelProvider> make_compiling_provider(std::shared_ptr<toolchain::Toolchain> toolchain);

}  // namespace schaas::server

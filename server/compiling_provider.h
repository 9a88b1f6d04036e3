#pragma once
#include <memory>

#include "server/kernel_provider.h"

namespace schaas::server {

/// The bottom of the stack: searches and compiles, every time. `solver` makes the solver of each search;
/// none: Z3 in this process.
std::unique_ptr<KernelProvider> make_compiling_provider(std::shared_ptr<toolchain::Toolchain> toolchain,
                                                        frontier::SolverFactory solver = {});

}  // namespace schaas::server

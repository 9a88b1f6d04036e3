#pragma once
#include <memory>

#include "server/kernel_provider.h"

namespace schaas::server {

/// How much work runs side by side; the rest waits its turn.
struct Admission {
  int searches = 2;      ///< each may take a core and up to a gibibyte
  int compilations = 2;  ///< each starts one compiler process
};

/// Why: a burst of new problems must neither exhaust the memory nor slow every search down. Stored answers do
/// not pass here, so they never wait.
std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        Admission admission);

}  // namespace schaas::server

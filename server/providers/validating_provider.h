#pragma once
#include <memory>
#include <string>

#include "server/providers/kernel_provider.h"
#include "server/providers/kernel_trial.h"
#include "server/storage/quarantine.h"
#include "server/telemetry/log.h"

namespace schaas::server {

/// Validates each compiled kernel against the oracle before it is stored or served. A kernel that fails is
/// internal [kernel-rejected] and goes, with everything that reproduces it, into `quarantine`. A later
/// request for the same key is refused from there, unless it demands a new kernel (Source::made). A kernel
/// for another processor is validated for the best instruction set of this one.
std::unique_ptr<KernelProvider> make_validating_provider(std::unique_ptr<KernelProvider> next,
                                                         KernelTrial trial,
                                                         std::shared_ptr<const Quarantine> quarantine,
                                                         Log log);

}  // namespace schaas::server

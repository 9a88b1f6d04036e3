#pragma once
#include <memory>
#include <string>

#include "server/kernel_provider.h"
#include "server/kernel_trial.h"
#include "server/log.h"

namespace schaas::server {

/// No kernel is served or stored that did not compute what the oracle says. A kernel that fails its trial is
/// internal [kernel-rejected]; it goes, with all that reproduces it, into the directory `quarantine`
/// (KEY.so and KEY.txt), which is consulted before a kernel of the same key is made again (Source::made tries
/// anew). One for a processor that this machine has not is made and tried for the best one it has.
std::unique_ptr<KernelProvider> make_trying_provider(std::unique_ptr<KernelProvider> next, KernelTrial trial,
                                                     std::string quarantine, Log log);

}  // namespace schaas::server

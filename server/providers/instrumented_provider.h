#pragma once
#include <memory>

#include "server/providers/kernel_provider.h"
#include "server/providers/kernel_trial.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// Counts requests by how they were answered; wraps the whole stack.
std::unique_ptr<KernelProvider> make_counting_provider(std::unique_ptr<KernelProvider> next,
                                                       std::shared_ptr<Metrics> metrics);
/// Times searches and compilations and counts solver queries; wraps the innermost provider.
std::unique_ptr<KernelProvider> make_timing_provider(std::unique_ptr<KernelProvider> next,
                                                     std::shared_ptr<Metrics> metrics);
/// Times trials.
KernelTrial timed(KernelTrial trial, std::shared_ptr<Metrics> metrics);

}  // namespace schaas::server

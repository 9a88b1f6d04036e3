#pragma once
#include <memory>

#include "server/kernel_provider.h"
#include "server/kernel_trial.h"
#include "server/metrics.h"

namespace schaas::server {

/// Why: an operator must see how often the stores answered and where the time went. Two decorators that
/// change nothing: one around the whole stack counts what was asked and how it was answered...
std::unique_ptr<KernelProvider> make_answers_counting(std::unique_ptr<KernelProvider> next,
                                                      std::shared_ptr<Metrics> metrics);
/// ... one around the work itself takes its time, and counts what the solver was asked.
std::unique_ptr<KernelProvider> make_work_timing(std::unique_ptr<KernelProvider> next,
                                                 std::shared_ptr<Metrics> metrics);
/// A trial that takes its time, likewise.
KernelTrial timed(KernelTrial trial, std::shared_ptr<Metrics> metrics);

}  // namespace schaas::server

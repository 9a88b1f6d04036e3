#pragma once
#include <memory>

#include "server/providers/admission_queue.h"
#include "server/providers/kernel_provider.h"
#include "server/telemetry/metrics.h"

namespace schaas::server {

/// Limits on concurrent and waiting work.
struct Admission {
  int searches = 2;      ///< each may use a core and up to a gibibyte
  int compilations = 2;  ///< each starts one compiler process
  std::size_t waiting_searches = 32;
  std::size_t waiting_compilations = 128;  ///< two per request: an admitted request seldom reaches this limit
};

/// The admission queues of searches and compilations.
struct AdmissionQueues {
  explicit AdmissionQueues(const Admission& admission);
  std::shared_ptr<AdmissionQueue> searches, compilations;
  /// Returns true while work waits; then work that nobody needs is skipped.
  bool overloaded() const { return searches->waiting() > 0 || compilations->waiting() > 0; }
  /// Requests that a client waits for, before their search or their first kernel. Precomputation takes no
  /// part.
  std::size_t waiting_first_kernels(const std::string& client) const {
    return searches->waiting_of(Priority::interactive, client) +
           compilations->waiting_of(Priority::first, client);
  }
};

/// Bounds concurrent searches and compilations, so that a burst of new problems neither exhausts the memory
/// nor slows every search down. Interactive requests go before precomputation; a request that would wait too
/// long is refused at once: exhausted [overloaded]. Stored answers bypass the queues.
std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        const AdmissionQueues& queues,
                                                        std::shared_ptr<Metrics> metrics);

}  // namespace schaas::server

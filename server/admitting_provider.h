#pragma once
#include <memory>

#include "server/kernel_provider.h"
#include "server/metrics.h"
#include "server/slots.h"

namespace schaas::server {

/// How much work runs side by side; the rest waits its turn, so many at most.
struct Admission {
  int searches = 2;      ///< each may take a core and up to a gibibyte
  int compilations = 2;  ///< each starts one compiler process
  std::size_t waiting_searches = 32;
  std::size_t waiting_compilations =
      128;  ///< two a request: those of a request that was let in seldom meet this
};

/// The lines before the work.
struct Lines {
  explicit Lines(const Admission& admission);
  std::shared_ptr<Slots> searches, compilations;
  /// Whether somebody waits: then nothing is done that nobody needs.
  bool crowded() const { return searches->waiting() > 0 || compilations->waiting() > 0; }
};

/// Why: a burst of new problems must neither exhaust the memory nor slow every search down; who waits for an
/// answer goes before precomputation; and who cannot be served soon is told so at once: exhausted
/// [overloaded]. Stored answers do not pass here, so they never wait.
std::unique_ptr<KernelProvider> make_admitting_provider(std::unique_ptr<KernelProvider> next,
                                                        const Lines& lines, std::shared_ptr<Metrics> metrics);

}  // namespace schaas::server

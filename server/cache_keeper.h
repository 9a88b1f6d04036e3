#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "server/log.h"
#include "server/stores.h"

namespace schaas::server {

struct CacheLimits {
  std::uint64_t bytes = std::uint64_t{4} << 30;  ///< of the binaries; 0: no limit
  /// What was used within so long stays, whatever the size: a client may be about to download it.
  std::chrono::seconds grace{600};
  std::uint64_t frontier_bytes = std::uint64_t{1} << 30;  ///< of the frontiers' payloads; 0: no limit
};

/// What was removed.
struct Collected {
  std::uint64_t evicted = 0;    ///< binaries used longest ago
  std::uint64_t orphans = 0;    ///< binaries of no kernel
  std::uint64_t rows = 0;       ///< kernels without binary
  std::uint64_t frontiers = 0;  ///< of older search versions, and those used longest ago
  std::uint64_t freed_bytes = 0, left_bytes = 0;
};

/// Keeps binaries and frontiers below their limits: once it is passed those used longest ago go, with their
/// rows, down to nine tenths of it. Binaries of pinned problems stay. The rows go first, so none ever names a
/// binary that was removed. Thread-safe.
class CacheKeeper {
 public:
  CacheKeeper(Stores stores, CacheLimits limits, Log log);

  /// A binary of so many bytes was stored.
  void stored(std::uint64_t bytes);
  /// A frontier whose payload has so many bytes was stored.
  void stored_frontier(std::uint64_t bytes);
  /// Removes also what nobody can need. Errors: those of the stores.
  support::Result<Collected> collect();

 private:
  support::Result<void> evict(Collected& out);
  support::Result<void> evict_frontiers(Collected& out);
  support::Result<void> drop_orphans(Collected& out);
  bool is_fresh(kernels_cache::Clock::Time used) const;

  const Stores stores_;
  const CacheLimits limits_;
  const Log log_;
  std::atomic<std::uint64_t> bytes_{0};           ///< at least what is stored, until the next look
  std::atomic<std::uint64_t> frontier_bytes_{0};  ///< likewise
  std::mutex one_at_a_time_;
};

}  // namespace schaas::server

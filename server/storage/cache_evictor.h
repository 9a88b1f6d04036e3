#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

#include "server/storage/stores.h"
#include "server/telemetry/log.h"

namespace schaas::server {

struct CacheLimits {
  std::uint64_t bytes = std::uint64_t{4} << 30;  ///< limit on the stored binaries; 0: none
  /// Minimum age since the last use: a client may be about to download a recent binary.
  std::chrono::seconds min_age{600};
  std::uint64_t frontier_bytes = std::uint64_t{1} << 30;  ///< limit on the frontiers' payloads; 0: none
};

/// Numbers of removed items.
struct EvictionReport {
  std::uint64_t evicted = 0;    ///< least recently used binaries
  std::uint64_t orphans = 0;    ///< binaries without a kernel row
  std::uint64_t rows = 0;       ///< kernel rows without a binary
  std::uint64_t frontiers = 0;  ///< frontiers of older search versions and least recently used ones
  std::uint64_t freed_bytes = 0, left_bytes = 0;
};

/// Evicts least recently used binaries and frontiers, with their rows, down to nine tenths of a limit that
/// was passed. Binaries of pinned problems stay. Rows are deleted first, so that none names a removed binary.
/// Thread-safe.
class CacheEvictor {
 public:
  CacheEvictor(Stores stores, CacheLimits limits, Log log);

  /// Records a stored binary and evicts when the limit is passed.
  void note_stored_binary(std::uint64_t bytes);
  /// Records a stored payload and evicts when the limit is passed.
  void note_stored_frontier(std::uint64_t bytes);
  /// Removes everything unreachable, then evicts. Errors: those of the stores.
  support::Result<EvictionReport> collect();

 private:
  support::Result<void> evict(EvictionReport& out);
  support::Result<void> evict_frontiers(EvictionReport& out);
  support::Result<void> drop_orphans(EvictionReport& out);
  bool used_recently(kernels_cache::Clock::Time used) const;

  const Stores stores_;
  const CacheLimits limits_;
  const Log log_;
  std::atomic<std::uint64_t> bytes_{0};           ///< upper bound between two scans
  std::atomic<std::uint64_t> frontier_bytes_{0};  ///< upper bound between two scans
  std::mutex one_at_a_time_;
};

}  // namespace schaas::server

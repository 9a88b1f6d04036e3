#include "server/storage/cache_evictor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/pipeline/pipeline.h"

// Eviction of the least recently used down to nine tenths of a limit, so that it does not start again with
// the next item. Sizes are counted up while items are stored; a scan, which is expensive, makes them exact
// when the count passes the limit. One thread evicts, others go on. Rows go before binaries, so that no row
// names a binary that is gone. Pinned and recently used items stay, even above the limit.
namespace schaas::server {

using kernels_cache::UsedBinary;
using support::Result;

// Starts with what is stored; a store that cannot be read counts as empty until the next scan.
CacheEvictor::CacheEvictor(Stores stores, CacheLimits limits, Log log)
    : stores_(std::move(stores)), limits_(limits), log_(std::move(log)) {
  if (const auto bytes = stores_.binaries->bytes(); bytes.ok()) bytes_ = *bytes;
  if (const auto rows = stores_.schedules->statistics(); rows.ok()) frontier_bytes_ = rows->frontier_bytes;
}

void CacheEvictor::note_stored_binary(std::uint64_t bytes) {
  bytes_ += bytes;
  if (limits_.bytes == 0 || bytes_ <= limits_.bytes) return;
  const std::unique_lock lock(one_at_a_time_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread evicts
  EvictionReport collected;
  if (const auto evicted = evict(collected); !evicted.ok()) {
    log_->warn("cannot evict binaries: {}", support::render(evicted.error()));
  } else if (collected.evicted > 0) {
    log_->info("evicted {} binaries, {} bytes; {} bytes remain", collected.evicted, collected.freed_bytes,
               collected.left_bytes);
  }
}

void CacheEvictor::note_stored_frontier(std::uint64_t bytes) {
  frontier_bytes_ += bytes;
  if (limits_.frontier_bytes == 0 || frontier_bytes_ <= limits_.frontier_bytes) return;
  const std::unique_lock lock(one_at_a_time_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread evicts
  EvictionReport collected;
  if (const auto evicted = evict_frontiers(collected); !evicted.ok()) {
    log_->warn("cannot evict frontiers: {}", support::render(evicted.error()));
  } else if (collected.frontiers > 0) {
    log_->info("evicted {} least recently used frontiers; {} bytes remain", collected.frontiers,
               frontier_bytes_.load());
  }
}

Result<EvictionReport> CacheEvictor::collect() {
  const std::lock_guard lock(one_at_a_time_);
  EvictionReport out;
  SCHAAS_ASSIGN_OR_RETURN(out.rows, drop_rows_without_binary(stores_));
  SCHAAS_ASSIGN_OR_RETURN(out.frontiers, stores_.schedules->drop_frontiers_before(pipeline::search_version));
  SCHAAS_RETURN_IF_ERROR(drop_orphans(out));
  SCHAAS_RETURN_IF_ERROR(evict(out));
  SCHAAS_RETURN_IF_ERROR(evict_frontiers(out));
  return out;
}

bool CacheEvictor::used_recently(kernels_cache::Clock::Time used) const {
  return used + limits_.min_age > kernels_cache::system_clock()->now();
}

// Evicts binaries, oldest use first, and corrects the count.
Result<void> CacheEvictor::evict(EvictionReport& out) {
  SCHAAS_ASSIGN_OR_RETURN(std::vector<UsedBinary> binaries, stores_.binaries->uses());
  std::uint64_t total = 0;
  for (const auto& binary : binaries) total += binary.digest.bytes;
  if (limits_.bytes != 0 && total > limits_.bytes) {
    SCHAAS_ASSIGN_OR_RETURN(const auto pinned, stores_.schedules->pinned_binaries());
    std::sort(binaries.begin(), binaries.end(),
              [](const UsedBinary& a, const UsedBinary& b) { return a.used < b.used; });
    std::vector<std::string> evicted;
    std::uint64_t freed = 0;
    for (const auto& binary : binaries) {
      // Binaries are sorted by use: after a recent one all others are recent, too.
      if (total - freed <= limits_.bytes / 10 * 9 || used_recently(binary.used)) break;
      if (pinned.count(binary.digest.sha256) != 0) continue;
      evicted.push_back(binary.digest.sha256);
      freed += binary.digest.bytes;
    }
    SCHAAS_RETURN_IF_ERROR(stores_.schedules->drop_kernels_with(evicted));
    for (const std::string& sha256 : evicted) SCHAAS_RETURN_IF_ERROR(stores_.binaries->drop(sha256));
    total -= freed;
    out.freed_bytes += freed;
    out.evicted += evicted.size();
  }
  out.left_bytes = total;
  bytes_ = total;
  return {};
}

// Evicts frontiers, which the store sorts by itself.
Result<void> CacheEvictor::evict_frontiers(EvictionReport& out) {
  if (limits_.frontier_bytes == 0) return {};
  SCHAAS_ASSIGN_OR_RETURN(const auto rows, stores_.schedules->statistics());
  frontier_bytes_ = rows.frontier_bytes;
  if (rows.frontier_bytes <= limits_.frontier_bytes) return {};
  SCHAAS_ASSIGN_OR_RETURN(const auto dropped, stores_.schedules->drop_frontiers_above(
                                                  limits_.frontier_bytes / 10 * 9,
                                                  kernels_cache::system_clock()->now() - limits_.min_age));
  out.frontiers += dropped.frontiers;
  frontier_bytes_ = dropped.left_bytes;
  return {};
}

Result<void> CacheEvictor::drop_orphans(EvictionReport& out) {
  // Binaries are listed first: one stored meanwhile is not among them, and its row follows it.
  SCHAAS_ASSIGN_OR_RETURN(const auto binaries, stores_.binaries->uses());
  SCHAAS_ASSIGN_OR_RETURN(const auto named, stores_.schedules->binaries());
  for (const auto& binary : binaries) {
    if (named.count(binary.digest.sha256) != 0 || used_recently(binary.used)) continue;
    SCHAAS_RETURN_IF_ERROR(stores_.binaries->drop(binary.digest.sha256));
    out.freed_bytes += binary.digest.bytes;
    ++out.orphans;
  }
  return {};
}

}  // namespace schaas::server

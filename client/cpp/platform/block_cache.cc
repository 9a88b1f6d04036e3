#include "client/cpp/platform/block_cache.h"

// A cache of freed memory. Buffers of equal size come and go with each call of a program; fresh pages cost a
// page fault and clearing, more than many kernels take. The search is linear, as there are 64 blocks at most.
// Nobody waits for the lock: a caller that finds it taken goes to the system.
namespace schaas::client {
namespace {

// The block has room and is at most a quarter larger; blocks of huge pages are rounded up to 2 MiB.
bool suits(std::size_t capacity, std::size_t bytes) {
  constexpr std::size_t slack = std::size_t{2} << 20;
  return capacity >= bytes && capacity - bytes <= bytes / 4 + (bytes < slack ? 0 : slack);
}

}  // namespace

// Takes the smallest block that suits; of equal ones the last one freed, which is likeliest in a cache.
std::optional<Block> BlockCache::take(std::size_t bytes, Clock::time_point now) {
  if (bytes < limits_.smallest) return {};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {};
  auto best = kept_.end();
  for (auto one = kept_.begin(); one != kept_.end(); ++one) {
    const bool is_better = best == kept_.end() || one->block.capacity <= best->block.capacity;
    if (suits(one->block.capacity, bytes) && is_better) best = one;
  }
  std::optional<Block> found;
  if (best != kept_.end()) {
    found = best->block;
    bytes_ -= found->capacity;
    kept_.erase(best);
  }
  release_old(now);
  return found;
}

// Blocks are released from the oldest on until the bounds hold.
void BlockCache::give(Block block, Clock::time_point now) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || block.capacity < limits_.smallest || block.capacity > limits_.bytes) return release_(block);
  kept_.push_back({block, now});
  bytes_ += block.capacity;
  while (bytes_ > limits_.bytes || kept_.size() > limits_.blocks) release_first();
  release_old(now);
}

void BlockCache::clear() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  while (lock && !kept_.empty()) release_first();
}

std::size_t BlockCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void BlockCache::release_old(Clock::time_point now) {
  while (!kept_.empty() && now - kept_.front().since > limits_.max_age) release_first();
}

void BlockCache::release_first() {
  release_(kept_.front().block);
  bytes_ -= kept_.front().block.capacity;
  kept_.erase(kept_.begin());
}

}  // namespace schaas::client

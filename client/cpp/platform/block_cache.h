#pragma once
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace schaas::client {

/// Memory as the system or the heap gave it.
struct Block {
  void* data = nullptr;
  std::size_t capacity = 0;  ///< bytes
};

/// Freed blocks, kept for later buffers of about the same size: pages that are there need not be faulted in
/// and cleared again. Bounded in bytes, number and age. Thread-safe; nobody waits: while another thread is
/// inside, blocks are neither taken nor kept, which also serves a child that was forked meanwhile.
class BlockCache {
 public:
  using Clock = std::chrono::steady_clock;
  using Release = void (*)(Block);
  struct Limits {
    std::size_t bytes = 0;             ///< kept in all
    std::size_t blocks = 64;           ///< kept in all
    std::chrono::seconds max_age{10};  ///< kept without being used, until the next take or keep
    std::size_t smallest = 64U << 10;  ///< smaller blocks are the heap's to recycle
  };
  /// `release` gives a block back to where it came from.
  BlockCache(Limits limits, Release release) : limits_(limits), release_(release) {}
  ~BlockCache() { clear(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// The smallest kept block that has room for `bytes` and is not much larger; its contents are anything.
  std::optional<Block> take(std::size_t bytes, Clock::time_point now = Clock::now());
  /// Keeps the block, or releases it.
  void give(Block block, Clock::time_point now = Clock::now());
  /// Releases all.
  void clear();
  std::size_t bytes() const;  ///< kept

 private:
  struct Kept {
    Block block;
    Clock::time_point since;
  };
  void release_old(Clock::time_point now);
  void release_first();

  const Limits limits_;
  const Release release_;
  mutable std::mutex mutex_;  ///< guards all members below
  std::vector<Kept> kept_;    ///< the one given longest ago first
  std::size_t bytes_ = 0;
};

}  // namespace schaas::client

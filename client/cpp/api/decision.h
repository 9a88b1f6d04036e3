#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "client/cpp/api/kernel_pool.h"

namespace schaas::client {

/// Interval after which a decision that more kernels may change is reviewed.
constexpr std::chrono::milliseconds decide_again_after{500};

inline bool same(const Sizes& a, const Sizes& b) { return a.extents == b.extents && a.entries == b.entries; }

/// Decision for some sizes.
struct Decision {
  using Clock = std::chrono::steady_clock;

  Sizes sizes;
  std::string schedule;
  int threads = 0;
  bool deterministic = false;
  std::string placement{};                     ///< device of each tensor, and the device on which it may run
  std::shared_ptr<const Preference> chosen{};  ///< has a kernel
  std::shared_ptr<KernelPool> pool{};          ///< null: the kernel was named, or measured
  std::uint64_t version = 0;                   ///< latest version of the pool that was considered
  Clock::time_point made = Clock::now();

  bool is_for_same(const Decision& other) const {
    return schedule == other.schedule && threads == other.threads && deterministic == other.deterministic &&
           placement == other.placement && same(sizes, other.sizes);
  }
  /// Nothing has come since that may change it, and it is not the time to look for more.
  bool holds(std::uint64_t seen, Clock::time_point looked) const {
    if (!pool) return true;
    if (chosen->is_best) return pool->frontier_version() == chosen->frontier_version;
    return pool->version() == seen && Clock::now() - looked < decide_again_after;
  }
};
using DecisionPointer = std::shared_ptr<const Decision>;

}  // namespace schaas::client

#include "team.h"

#include <algorithm>
#include <atomic>

namespace schaas::client {
namespace {

std::atomic<int> taken{0};

}  // namespace

Team::Team(int threads, bool named) : threads_(threads) {
  int now = taken.load(std::memory_order_relaxed);
  do {
    if (!named) threads_ = std::max(1, threads - now);
  } while (!taken.compare_exchange_weak(now, now + threads_, std::memory_order_relaxed));
}

Team::~Team() { taken.fetch_sub(threads_, std::memory_order_relaxed); }

void Meeting::wait(int team) {
  constexpr int looks = 20'000;  // some tens of microseconds; then it costs little to sleep
  const std::uint32_t before = held_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == team) {
    arrived_.store(0, std::memory_order_relaxed);
    held_.store(before + 1, std::memory_order_release);
    held_.notify_all();
    return;
  }
  for (int look = 0; look < looks; ++look) {
    if (held_.load(std::memory_order_acquire) != before) return;
  }
  held_.wait(before, std::memory_order_acquire);
}

}  // namespace schaas::client

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

}  // namespace schaas::client

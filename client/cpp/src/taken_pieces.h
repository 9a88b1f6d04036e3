#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "share.h"

namespace schaas::client {

/// Which pieces of a phase the threads of a team have taken. A thread takes those of its own share first, so
/// that in the next run it finds in its cache what it left there, then what others have left. Thread-safe,
/// but for start_over().
class TakenPieces {
 public:
  explicit TakenPieces(int threads) : shares_(static_cast<std::size_t>(threads)) {}

  /// All pieces are to be taken again.
  void start_over() {
    for (Share& one : shares_) one.taken.store(0, std::memory_order_relaxed);
  }

  /// By each thread of a team: `work(piece)` for pieces of [0, count) that nobody has taken, until there are
  /// no more or `go_on()` is false.
  template <class GoOn, class Work>
  void take(std::int64_t count, int thread, int team, const GoOn& go_on, const Work& work) {
    for (int turn = 0; turn < team; ++turn) {
      const int owner = (thread + turn) % team;
      const std::int64_t begin = share(count, 1, owner, team), end = share(count, 1, owner + 1, team);
      while (go_on()) {
        auto& taken = shares_[static_cast<std::size_t>(owner)].taken;
        const std::int64_t piece = begin + taken.fetch_add(1, std::memory_order_relaxed);
        if (piece >= end) break;
        work(static_cast<std::size_t>(piece));
      }
    }
  }

 private:
  struct alignas(64) Share {
    std::atomic<std::int64_t> taken{0};
  };
  std::deque<Share> shares_;  // by thread
};

}  // namespace schaas::client

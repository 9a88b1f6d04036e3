#include "scan.h"

#include <numeric>
#include <vector>

#include "team.h"

namespace schaas::client {
namespace {

constexpr std::int64_t worth_a_team = std::int64_t{1} << 16;

}  // namespace

// Each thread adds up its stretch, then scans it from the sum of the stretches before.
std::int64_t exclusive_scan(std::int64_t* counts, std::int64_t size, int threads) {
  if (size < worth_a_team) threads = 1;
  std::vector<std::int64_t> sums(static_cast<std::size_t>(threads) + 1, 0);
  in_team(threads, [&](const Member& member) {
    const int thread = member.thread;
    std::int64_t* const begin = counts + size * thread / member.team;
    std::int64_t* const end = counts + size * (thread + 1) / member.team;
    sums[thread + 1] = std::accumulate(begin, end, std::int64_t{0});
    member.wait();
    std::exclusive_scan(begin, end, begin,
                        std::accumulate(sums.begin(), sums.begin() + thread + 1, std::int64_t{0}));
  });
  return counts[size] = std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
}

}  // namespace schaas::client

#include "client/cpp/platform/scan.h"

#include <numeric>
#include <utility>
#include <vector>

namespace schaas::client {
namespace {

// Elements below which waking threads takes longer than adding.
constexpr std::int64_t min_scanned_by_team = std::int64_t{1} << 16;

}  // namespace

// Makes an exclusive prefix sum in two passes (G. E. Blelloch, Prefix sums and their applications, 1990).
// Each share is added up, then scanned from the sum of the shares before it. Both passes have the same
// shares, which a thread takes its own of first: the second pass finds its elements in the cache.
std::int64_t exclusive_scan(std::int64_t* counts, std::int64_t size, Team& team) {
  const int parts = size < min_scanned_by_team ? 1 : team.threads();
  if (parts == 1) {
    std::int64_t sum = 0;
    for (std::int64_t n = 0; n < size; ++n) sum += std::exchange(counts[n], sum);
    return counts[size] = sum;
  }
  std::vector<std::int64_t> sums(static_cast<std::size_t>(parts) + 1, 0);
  const auto border = [&](std::int64_t part) { return counts + size * part / parts; };
  team.run(parts, [&](std::int64_t part, int) {
    sums[static_cast<std::size_t>(part) + 1] =
        std::accumulate(border(part), border(part + 1), std::int64_t{0});
  });
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  team.run(parts, [&](std::int64_t part, int) {
    std::exclusive_scan(border(part), border(part + 1), border(part), sums[static_cast<std::size_t>(part)]);
  });
  return counts[size] = sums.back();
}

}  // namespace schaas::client

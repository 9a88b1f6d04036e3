// Checks whole arrays at the speed of memory: loops without branches, which compilers vectorise for any
// x86-64 and ARM processor. Comparisons are signs of differences, as SSE2 does not compare 64-bit numbers.
//
// Entries are in order when those that do not follow the one before them are the first ones of parents, so
// two counts are compared: of all entries that do not follow, and of first entries that do not. The offender
// is not known then; whoever reports it looks for it.
#include "entry_order.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <type_traits>

#include "team.h"

namespace schaas::client {
namespace {

constexpr std::int64_t block = 1024;                          // entries whose flags stay in L1
constexpr std::int64_t worth_a_team = std::int64_t{1} << 19;  // elements; less takes a tenth of a millisecond

// Adds up what `count(begin, end)` gives for ranges that together are [0, size).
template <class Count>
std::int64_t total(std::int64_t size, int threads, const Count& count) {
  std::atomic<std::int64_t> sum{0};
  in_ranges(size, size < worth_a_team ? 1 : threads,
            [&](std::int64_t begin, std::int64_t end) { sum += count(begin, end); });
  return sum;
}

template <class Position>
using Bits = std::make_unsigned_t<Position>;

// 1 when a < b, else 0; for a and b that are not negative.
template <class Position>
Bits<Position> below(Position a, Position b) {
  return (static_cast<Bits<Position>>(a) - static_cast<Bits<Position>>(b)) >> (8 * sizeof(Position) - 1);
}

// Entries [begin, end), `block` at most, that follow the one before them. An entry follows when its
// coordinate does in the first level where the two differ.
template <class Position>
std::int64_t following(const std::vector<const Position*>& crd, std::int64_t begin, std::int64_t end) {
  std::array<Bits<Position>, block> flags;
  const auto count = static_cast<std::size_t>(end - begin);
  const Position *here = crd.back() + begin, *before = here - 1;
  for (std::size_t n = 0; n < count; ++n) flags[n] = below(before[n], here[n]);
  for (std::size_t l = crd.size() - 1; l-- > 0;) {
    here = crd[l] + begin, before = here - 1;
    for (std::size_t n = 0; n < count; ++n)
      flags[n] = below(before[n], here[n]) | (flags[n] & static_cast<Bits<Position>>(before[n] == here[n]));
  }
  Bits<Position> sum = 0;
  for (std::size_t n = 0; n < count; ++n) sum += flags[n];
  return static_cast<std::int64_t>(sum);
}

// True when coordinates [begin, end) are 0 to `last`.
template <class Position>
bool inside(const Position* crd, Bits<Position> last, std::int64_t begin, std::int64_t end) {
  Bits<Position> bad = 0;
  for (std::int64_t q = begin; q < end; ++q) {
    const auto here = static_cast<Bits<Position>>(crd[q]);
    bad |= here | (last - here);
  }
  return bad >> (8 * sizeof(Position) - 1) == 0;
}

template <class Position>
std::vector<Bits<Position>> last_coordinates(const EntryLists<Position>& lists) {
  std::vector<Bits<Position>> last;
  constexpr std::int64_t most = std::numeric_limits<Position>::max();
  for (const std::int64_t extent : lists.extents)
    last.push_back(static_cast<Bits<Position>>(std::min(extent - 1, most)));
  return last;
}

template <class Position>
bool follows_before(const std::vector<const Position*>& crd, Position at) {
  for (const Position* level : crd)
    if (level[at] != level[at - 1]) return level[at] > level[at - 1];
  return false;
}

// First entries of parents [begin, end), but for the very first entry, that do not follow the one before
// them. There are two entries at least. Sums of bits instead of branches: each second one would be
// mispredicted.
template <class Position>
std::int64_t first_not_following(const EntryLists<Position>& lists, std::int64_t begin, std::int64_t end) {
  const Position *const pos = lists.pos, *const head = lists.crd.front();
  Bits<Position> counted = 0, following_sum = 0;
  for (std::int64_t p = begin; p < end; ++p) {
    const Position first = pos[p];
    const auto counts = static_cast<Bits<Position>>((first != 0) & (first != pos[p + 1]));
    const Position at = counts != 0 ? first : 1;
    Bits<Position> follows = below(head[at - 1], head[at]);
    if (lists.crd.size() > 1) follows = static_cast<Bits<Position>>(follows_before(lists.crd, at));
    counted += counts;
    following_sum += counts & follows;
  }
  return static_cast<std::int64_t>(counted - following_sum);
}

}  // namespace

template <class Position>
bool ascend(const Position* pos, std::int64_t parents, int threads) {
  // Negative differences may overflow, so that positions are looked at, too.
  return total(parents, threads, [pos](std::int64_t begin, std::int64_t end) -> std::int64_t {
           Bits<Position> bad = 0;
           for (std::int64_t p = begin; p < end; ++p) {
             const auto here = static_cast<Bits<Position>>(pos[p]),
                        next = static_cast<Bits<Position>>(pos[p + 1]);
             bad |= here | next | (next - here);
           }
           return static_cast<std::int64_t>(bad >> (8 * sizeof(Position) - 1));
         }) == 0;
}

template <class Position>
bool in_order(const EntryLists<Position>& lists, int threads) {
  if (lists.entries == 0) return true;
  const auto last = last_coordinates(lists);
  std::atomic<bool> outside{false};
  const std::int64_t not_following = total(lists.entries, threads, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0;
    for (std::int64_t q = begin; q < end && !outside.load(std::memory_order_relaxed); q += block) {
      const std::int64_t first = std::max<std::int64_t>(q, 1), stop = std::min(q + block, end);
      for (std::size_t l = 0; l < last.size(); ++l)
        if (!inside(lists.crd[l], last[l], q, stop)) outside = true;
      sum += stop - first - following(lists.crd, first, stop);
    }
    return sum;
  });
  if (outside) return false;
  if (lists.entries == 1) return true;
  return not_following == total(lists.parents, threads, [&](std::int64_t begin, std::int64_t end) {
           return first_not_following(lists, begin, end);
         });
}

template <class Position>
bool are_inside(const EntryLists<Position>& lists, int threads) {
  const auto last = last_coordinates(lists);
  for (std::size_t l = 0; l < last.size(); ++l) {
    const auto outside =
        total(lists.entries, threads, [&](std::int64_t begin, std::int64_t end) -> std::int64_t {
          return inside(lists.crd[l], last[l], begin, end) ? 0 : 1;
        });
    if (outside != 0) return false;
  }
  return true;
}

template <class Position>
std::int64_t distinct(const EntryLists<Position>& lists) {
  std::int64_t sum = lists.entries > 0 ? 1 : 0;
  for (std::int64_t q = 1; q < lists.entries; q += block) {
    std::array<Bits<Position>, block> differences{};
    const auto count = static_cast<std::size_t>(std::min(block, lists.entries - q));
    for (const Position* level : lists.crd) {
      const Position *here = level + q, *before = here - 1;
      for (std::size_t n = 0; n < count; ++n)
        differences[n] |= static_cast<Bits<Position>>(before[n] ^ here[n]);
    }
    std::int64_t differ = 0;
    for (std::size_t n = 0; n < count; ++n) differ += differences[n] != 0 ? 1 : 0;
    sum += differ;
  }
  for (std::int64_t p = 0; p < lists.parents; ++p) {  // first ones that differ by their parent alone
    const std::int64_t at = lists.pos[p];
    if (at == 0 || at == lists.pos[p + 1]) continue;
    const bool differs = std::any_of(lists.crd.begin(), lists.crd.end(),
                                     [at](const Position* level) { return level[at] != level[at - 1]; });
    sum += differs ? 0 : 1;
  }
  return sum;
}

template bool ascend(const std::int32_t*, std::int64_t, int);
template bool ascend(const std::int64_t*, std::int64_t, int);
template bool in_order(const EntryLists<std::int32_t>&, int);
template bool in_order(const EntryLists<std::int64_t>&, int);
template bool are_inside(const EntryLists<std::int32_t>&, int);
template bool are_inside(const EntryLists<std::int64_t>&, int);
template std::int64_t distinct(const EntryLists<std::int32_t>&);
template std::int64_t distinct(const EntryLists<std::int64_t>&);

}  // namespace schaas::client

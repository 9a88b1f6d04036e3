// Checks whole arrays at the speed of memory: loops without branches, which compilers vectorise, for the
// processor at hand. Comparisons are signs of differences, as SSE2 does not compare 64-bit numbers.
//
// Entries are in order when those that do not follow the one before them are the first ones of parents, so
// two counts are compared: of all entries that do not follow, and of first entries that do not. The offender
// is not known then; whoever reports it looks for it.
#include "entry_order.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "schaas/host.h"
#include "team.h"

#define SCHAAS_INLINE inline __attribute__((always_inline))  // into loops for a processor

namespace schaas::client {
namespace {

constexpr std::int64_t block = 2048;                          // entries that stay in L1 with their flags
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
SCHAAS_INLINE Bits<Position> below(Position a, Position b) {
  return (static_cast<Bits<Position>>(a) - static_cast<Bits<Position>>(b)) >> (8 * sizeof(Position) - 1);
}

template <class Position>
SCHAAS_INLINE bool has_sign(Bits<Position> bits) {
  return bits >> (8 * sizeof(Position) - 1) != 0;
}

// The loops over arrays, which are compiled for several processors.
template <class Position>
struct Loops {
  // True when positions [begin, end] descend, or one of them is negative, whose differences may overflow.
  static SCHAAS_INLINE bool descend(const Position* pos, std::int64_t begin, std::int64_t end) {
    Bits<Position> bad = 0;
    for (std::int64_t p = begin; p < end; ++p) {
      const auto here = static_cast<Bits<Position>>(pos[p]), next = static_cast<Bits<Position>>(pos[p + 1]);
      bad |= here | next | (next - here);
    }
    return has_sign<Position>(bad);
  }
  // True when some coordinate [begin, end) is not 0 to `last`.
  static SCHAAS_INLINE bool leave(const Position* crd, Bits<Position> last, std::int64_t begin,
                                  std::int64_t end) {
    Bits<Position> bad = 0;
    for (std::int64_t q = begin; q < end; ++q) {
      const auto here = static_cast<Bits<Position>>(crd[q]);
      bad |= here | (last - here);
    }
    return has_sign<Position>(bad);
  }
  // Entries [begin, end), `block` at most, that follow the one before them. An entry follows when its
  // coordinate does in the first level where the two differ.
  static SCHAAS_INLINE std::int64_t following(const Position* const* crd, std::size_t levels,
                                              std::int64_t begin, std::int64_t end) {
    const auto count = static_cast<std::size_t>(end - begin);
    const Position *here = crd[levels - 1] + begin, *before = here - 1;
    Bits<Position> sum = 0;
    if (levels == 1) {
      for (std::size_t n = 0; n < count; ++n) sum += below(before[n], here[n]);
      return static_cast<std::int64_t>(sum);
    }
    Bits<Position> flags[block];
    for (std::size_t n = 0; n < count; ++n) flags[n] = below(before[n], here[n]);
    for (std::size_t l = levels - 1; l-- > 0;) {
      here = crd[l] + begin, before = here - 1;
      for (std::size_t n = 0; n < count; ++n)
        flags[n] = below(before[n], here[n]) | (flags[n] & static_cast<Bits<Position>>(before[n] == here[n]));
    }
    for (std::size_t n = 0; n < count; ++n) sum += flags[n];
    return static_cast<std::int64_t>(sum);
  }
  // Entries [begin, end), `block` at most, that differ from the one before them.
  static SCHAAS_INLINE std::int64_t differing(const Position* const* crd, std::size_t levels,
                                              std::int64_t begin, std::int64_t end) {
    const auto count = static_cast<std::size_t>(end - begin);
    Bits<Position> differences[block];
    for (std::size_t l = 0; l < levels; ++l) {
      const Position *here = crd[l] + begin, *before = here - 1;
      for (std::size_t n = 0; n < count; ++n) {
        const auto difference = static_cast<Bits<Position>>(before[n] ^ here[n]);
        differences[n] = l == 0 ? difference : differences[n] | difference;
      }
    }
    Bits<Position> sum = 0;
    for (std::size_t n = 0; n < count; ++n) sum += static_cast<Bits<Position>>(differences[n] != 0);
    return static_cast<std::int64_t>(sum);
  }
  // Of one level: first entries of parents [begin, end), but for the very first entry, that do not follow the
  // one before them. There are two entries at least. Sums of bits instead of branches: each second one would
  // be mispredicted.
  static SCHAAS_INLINE std::int64_t first_not_following(const Position* pos, const Position* crd,
                                                        std::int64_t begin, std::int64_t end) {
    Bits<Position> sum = 0;
    for (std::int64_t p = begin; p < end; ++p) {
      const auto first = static_cast<Bits<Position>>(pos[p]);
      const auto counts = static_cast<Bits<Position>>((first != 0) & (pos[p] != pos[p + 1]));
      const Bits<Position> at = counts != 0 ? first : 1;
      sum += counts & ~below(crd[at - 1], crd[at]);
    }
    return static_cast<std::int64_t>(sum);
  }
};

// Those loops as compiled for one kind of processor.
template <class Position>
struct Compiled {
  bool (*descend)(const Position*, std::int64_t, std::int64_t);
  bool (*leave)(const Position*, Bits<Position>, std::int64_t, std::int64_t);
  std::int64_t (*following)(const Position* const*, std::size_t, std::int64_t, std::int64_t);
  std::int64_t (*differing)(const Position* const*, std::size_t, std::int64_t, std::int64_t);
  std::int64_t (*first_not_following)(const Position*, const Position*, std::int64_t, std::int64_t);
};

#define SCHAAS_COMPILED_FOR(NAME, ATTRIBUTE)                                                            \
  template <class Position>                                                                             \
  struct NAME {                                                                                         \
    ATTRIBUTE static bool descend(const Position* pos, std::int64_t begin, std::int64_t end) {          \
      return Loops<Position>::descend(pos, begin, end);                                                 \
    }                                                                                                   \
    ATTRIBUTE static bool leave(const Position* crd, Bits<Position> last, std::int64_t begin,           \
                                std::int64_t end) {                                                     \
      return Loops<Position>::leave(crd, last, begin, end);                                             \
    }                                                                                                   \
    ATTRIBUTE static std::int64_t following(const Position* const* crd, std::size_t levels,             \
                                            std::int64_t begin, std::int64_t end) {                     \
      return Loops<Position>::following(crd, levels, begin, end);                                       \
    }                                                                                                   \
    ATTRIBUTE static std::int64_t differing(const Position* const* crd, std::size_t levels,             \
                                            std::int64_t begin, std::int64_t end) {                     \
      return Loops<Position>::differing(crd, levels, begin, end);                                       \
    }                                                                                                   \
    ATTRIBUTE static std::int64_t first_not_following(const Position* pos, const Position* crd,         \
                                                      std::int64_t begin, std::int64_t end) {           \
      return Loops<Position>::first_not_following(pos, crd, begin, end);                                \
    }                                                                                                   \
    static constexpr Compiled<Position> all{descend, leave, following, differing, first_not_following}; \
  };

SCHAAS_COMPILED_FOR(AnyProcessor, )
#ifdef __x86_64__
SCHAAS_COMPILED_FOR(Avx2, __attribute__((target("avx2"))))
SCHAAS_COMPILED_FOR(Avx512, __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl"))))
#endif
#undef SCHAAS_COMPILED_FOR

template <class Position>
const Compiled<Position>& loops() {
#ifdef __x86_64__
  static const Compiled<Position>& best = host_runs("x86-64-v4")   ? Avx512<Position>::all
                                          : host_runs("x86-64-v3") ? Avx2<Position>::all
                                                                   : AnyProcessor<Position>::all;
  return best;
#else
  return AnyProcessor<Position>::all;
#endif
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
bool follows(const std::vector<const Position*>& crd, std::int64_t at) {
  for (const Position* level : crd)
    if (level[at] != level[at - 1]) return level[at] > level[at - 1];
  return false;
}

// First entries of parents [begin, end), but for the very first entry, that do not follow the one before
// them. There are two entries at least.
template <class Position>
std::int64_t first_not_following(const EntryLists<Position>& lists, std::int64_t begin, std::int64_t end) {
  if (lists.crd.size() == 1)
    return loops<Position>().first_not_following(lists.pos, lists.crd.front(), begin, end);
  std::int64_t sum = 0;
  for (std::int64_t p = begin; p < end; ++p) {
    const std::int64_t at = lists.pos[p];
    if (at != 0 && at != lists.pos[p + 1] && !follows(lists.crd, at)) ++sum;
  }
  return sum;
}

}  // namespace

template <class Position>
bool ascend(const Position* pos, std::int64_t parents, int threads) {
  return total(parents, threads, [pos](std::int64_t begin, std::int64_t end) -> std::int64_t {
           return loops<Position>().descend(pos, begin, end) ? 1 : 0;
         }) == 0;
}

template <class Position>
bool in_order(const EntryLists<Position>& lists, int threads) {
  if (lists.entries == 0) return true;
  const auto last = last_coordinates(lists);
  const Compiled<Position>& compiled = loops<Position>();
  std::atomic<bool> outside{false};
  const std::int64_t not_following = total(lists.entries, threads, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0;
    for (std::int64_t q = begin; q < end && !outside.load(std::memory_order_relaxed); q += block) {
      const std::int64_t first = std::max<std::int64_t>(q, 1), stop = std::min(q + block, end);
      for (std::size_t l = 0; l < last.size(); ++l)
        if (compiled.leave(lists.crd[l], last[l], q, stop)) outside = true;
      sum += stop - first - compiled.following(lists.crd.data(), lists.crd.size(), first, stop);
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
std::int64_t distinct(const EntryLists<Position>& lists) {
  std::int64_t sum = lists.entries > 0 ? 1 : 0;
  for (std::int64_t q = 1; q < lists.entries; q += block)
    sum += loops<Position>().differing(lists.crd.data(), lists.crd.size(), q,
                                       std::min(q + block, lists.entries));
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
template std::int64_t distinct(const EntryLists<std::int32_t>&);
template std::int64_t distinct(const EntryLists<std::int64_t>&);

}  // namespace schaas::client

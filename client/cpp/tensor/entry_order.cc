#include "client/cpp/tensor/entry_order.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>

#include "client/cpp/platform/team.h"
#include "schaas/host.h"

// Checks whole arrays at the speed of memory: loops without branches, which compilers vectorise, for the
// processor at hand. Comparisons are signs of differences, as SSE2 does not compare 64-bit numbers.
//
// Entries are in order when each entry that does not follow its predecessor is the first one of a parent.
// Each entry of a block gets a flag, a byte; the flags of first entries are cleared, and none may remain. The
// offending entry is unknown then, and the error report searches for it. Rejected: counting the entries that
// do not follow, and the first ones among them. It reads two scattered coordinates for each parent and takes
// 2.5 times as long where rows are short. Two levels under one parent, as in coo, have one first entry and
// need no flags. One pass compares pairs of coordinates.

#define SCHAAS_INLINE inline __attribute__((always_inline))  // into loops for a processor

namespace schaas::client {
namespace {

constexpr std::int64_t block = 4096;  // entries that stay in L1 with their flags
constexpr std::int64_t min_checked_by_team = std::int64_t{1}
                                             << 19;  // elements; less takes a tenth of a millisecond

// Adds up what `count(begin, end)` gives for ranges that together are [0, size).
template <class Count>
std::int64_t total(std::int64_t size, int threads, const Count& count) {
  std::atomic<std::int64_t> sum{0};
  in_ranges(size, size < min_checked_by_team ? 1 : threads,
            [&](std::int64_t begin, std::int64_t end) { sum += count(begin, end); });
  return sum;
}

template <class Position>
using Bits = std::make_unsigned_t<Position>;

// Returns 1 when a < b, else 0; for a and b that are not negative. Their difference then fits, and its sign
// bit is the answer.
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
  // Flags entries [begin, end) that do not follow the one before them. An entry follows when its coordinate
  // does in the first level where the two differ.
  static SCHAAS_INLINE void flag(const Position* const* crd, std::size_t levels, std::int64_t begin,
                                 std::int64_t end, std::uint8_t* flags) {
    const auto count = static_cast<std::size_t>(end - begin);
    const Position *here = crd[levels - 1] + begin, *before = here - 1;
    for (std::size_t n = 0; n < count; ++n) flags[n] = static_cast<std::uint8_t>(here[n] <= before[n]);
    for (std::size_t l = levels - 1; l-- > 0;) {
      here = crd[l] + begin, before = here - 1;
      for (std::size_t n = 0; n < count; ++n)
        flags[n] = static_cast<std::uint8_t>((here[n] < before[n]) | (flags[n] & (here[n] == before[n])));
    }
  }
  // Both for lists of one level, which are then read once: flags entries, and returns true when a coordinate
  // is not 0 to `last`.
  static SCHAAS_INLINE bool flag_list(const Position* crd, Bits<Position> last, std::int64_t begin,
                                      std::int64_t end, std::uint8_t* flags) {
    const auto count = static_cast<std::size_t>(end - begin);
    const Position *here = crd + begin, *before = here - 1;
    Bits<Position> bad = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const auto bits = static_cast<Bits<Position>>(here[n]);
      bad |= bits | (last - bits);
      flags[n] = static_cast<std::uint8_t>(here[n] <= before[n]);
    }
    return has_sign<Position>(bad);
  }
  // True when a coordinate [begin, end) is not 0 to its `last`, or a pair does not follow the one before it.
  // A negative coordinate has the sign itself, so differences need not be right for it.
  static SCHAAS_INLINE bool pairs_leave(const Position* outer, const Position* inner,
                                        Bits<Position> outer_last, Bits<Position> inner_last,
                                        std::int64_t begin, std::int64_t end) {
    Bits<Position> bad = 0;
    for (std::int64_t q = begin; q < end; ++q) {
      const auto i = static_cast<Bits<Position>>(outer[q]),
                 i_before = static_cast<Bits<Position>>(outer[q - 1]);
      const auto j = static_cast<Bits<Position>>(inner[q]),
                 j_before = static_cast<Bits<Position>>(inner[q - 1]);
      const Bits<Position> descends = i - i_before, ascends = i_before - i, follows = j_before - j;
      bad |= i | (outer_last - i) | j | (inner_last - j) | descends | ~(ascends | follows);
    }
    return has_sign<Position>(bad);
  }
  // Clears the flags of the first entries of parents [begin, end). `flags`: of entries from `first` on. Four
  // parents at a time take 0.6 of the time.
  static SCHAAS_INLINE void clear(const Position* pos, std::int64_t begin, std::int64_t end,
                                  std::int64_t first, std::uint8_t* flags) {
    std::int64_t p = begin;
    for (; p + 4 <= end; p += 4) {
      const std::int64_t a = pos[p], b = pos[p + 1], c = pos[p + 2], d = pos[p + 3];
      flags[a - first] = 0;
      flags[b - first] = 0;
      flags[c - first] = 0;
      flags[d - first] = 0;
    }
    for (; p < end; ++p) flags[pos[p] - first] = 0;
  }
  static SCHAAS_INLINE bool any(const std::uint8_t* flags, std::int64_t count) {
    std::uint8_t found = 0;
    for (std::int64_t n = 0; n < count; ++n) found |= flags[n];
    return found != 0;
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
};

// Those loops as compiled for one kind of processor.
template <class Position>
struct Compiled {
  bool (*descend)(const Position*, std::int64_t, std::int64_t);
  bool (*leave)(const Position*, Bits<Position>, std::int64_t, std::int64_t);
  void (*flag)(const Position* const*, std::size_t, std::int64_t, std::int64_t, std::uint8_t*);
  bool (*flag_list)(const Position*, Bits<Position>, std::int64_t, std::int64_t, std::uint8_t*);
  bool (*pairs_leave)(const Position*, const Position*, Bits<Position>, Bits<Position>, std::int64_t,
                      std::int64_t);
  void (*clear)(const Position*, std::int64_t, std::int64_t, std::int64_t, std::uint8_t*);
  bool (*any)(const std::uint8_t*, std::int64_t);
  std::int64_t (*differing)(const Position* const*, std::size_t, std::int64_t, std::int64_t);
};

#define SCHAAS_COMPILED_FOR(NAME, ATTRIBUTE)                                                       \
  template <class Position>                                                                        \
  struct NAME {                                                                                    \
    ATTRIBUTE static bool descend(const Position* pos, std::int64_t begin, std::int64_t end) {     \
      return Loops<Position>::descend(pos, begin, end);                                            \
    }                                                                                              \
    ATTRIBUTE static bool leave(const Position* crd, Bits<Position> last, std::int64_t begin,      \
                                std::int64_t end) {                                                \
      return Loops<Position>::leave(crd, last, begin, end);                                        \
    }                                                                                              \
    ATTRIBUTE static void flag(const Position* const* crd, std::size_t levels, std::int64_t begin, \
                               std::int64_t end, std::uint8_t* flags) {                            \
      Loops<Position>::flag(crd, levels, begin, end, flags);                                       \
    }                                                                                              \
    ATTRIBUTE static bool flag_list(const Position* crd, Bits<Position> last, std::int64_t begin,  \
                                    std::int64_t end, std::uint8_t* flags) {                       \
      return Loops<Position>::flag_list(crd, last, begin, end, flags);                             \
    }                                                                                              \
    ATTRIBUTE static bool pairs_leave(const Position* outer, const Position* inner,                \
                                      Bits<Position> outer_last, Bits<Position> inner_last,        \
                                      std::int64_t begin, std::int64_t end) {                      \
      return Loops<Position>::pairs_leave(outer, inner, outer_last, inner_last, begin, end);       \
    }                                                                                              \
    ATTRIBUTE static void clear(const Position* pos, std::int64_t begin, std::int64_t end,         \
                                std::int64_t first, std::uint8_t* flags) {                         \
      Loops<Position>::clear(pos, begin, end, first, flags);                                       \
    }                                                                                              \
    ATTRIBUTE static bool any(const std::uint8_t* flags, std::int64_t count) {                     \
      return Loops<Position>::any(flags, count);                                                   \
    }                                                                                              \
    ATTRIBUTE static std::int64_t differing(const Position* const* crd, std::size_t levels,        \
                                            std::int64_t begin, std::int64_t end) {                \
      return Loops<Position>::differing(crd, levels, begin, end);                                  \
    }                                                                                              \
    static constexpr Compiled<Position> all{descend,     leave, flag, flag_list,                   \
                                            pairs_leave, clear, any,  differing};                  \
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

// Extents beyond the type's range allow every coordinate that is not negative; an extent of 0 allows none.
template <class Position>
std::vector<Bits<Position>> last_coordinates(const EntryLists<Position>& lists) {
  std::vector<Bits<Position>> last;
  constexpr std::int64_t most = std::numeric_limits<Position>::max();
  for (const std::int64_t extent : lists.extents)
    last.push_back(static_cast<Bits<Position>>(std::min(extent - 1, most)));
  return last;
}

// The coordinates of entries [begin, end) lie inside their extents.
template <class Position>
bool stay_inside(const EntryLists<Position>& lists, const std::vector<Bits<Position>>& last,
                 std::int64_t begin, std::int64_t end) {
  for (std::size_t l = 0; l < last.size(); ++l)
    if (loops<Position>().leave(lists.crd[l], last[l], begin, end)) return false;
  return true;
}

// Returns the first parent from `parent` on whose entries begin at `entry` or behind it. Few parents are
// passed by: each of them has an entry, but for empty ones.
template <class Position>
std::int64_t parent_from(const EntryLists<Position>& lists, std::int64_t parent, std::int64_t entry) {
  const Position *const begin = lists.pos + parent, *const end = lists.pos + lists.parents;
  const Position* const near = begin + std::min<std::int64_t>(end - begin, block);
  const bool is_near = near == end || *near >= entry;
  return std::lower_bound(is_near ? begin : near, is_near ? near : end, entry) - lists.pos;
}

// The same as range_in_order() for two levels under one parent.
template <class Position>
bool pairs_in_order(const EntryLists<Position>& lists, const std::vector<Bits<Position>>& last,
                    std::int64_t begin, std::int64_t end) {
  const std::int64_t compared = std::min(end, std::max<std::int64_t>(begin, 1));
  return stay_inside(lists, last, begin, compared) &&
         !loops<Position>().pairs_leave(lists.crd[0], lists.crd[1], last[0], last[1], compared, end);
}

// Entries [begin, end) lie inside their extents, and each follows the one before it or is a parent's first.
template <class Position>
bool range_in_order(const EntryLists<Position>& lists, const std::vector<Bits<Position>>& last,
                    std::int64_t begin, std::int64_t end) {
  if (lists.parents == 1 && lists.crd.size() == 2) return pairs_in_order(lists, last, begin, end);
  const Compiled<Position>& compiled = loops<Position>();
  std::uint8_t flags[block];
  std::int64_t parent = parent_from(lists, 0, begin);
  for (std::int64_t q = begin; q < end; q += block) {
    const std::int64_t stop = std::min(q + block, end), compared = std::max<std::int64_t>(q, 1);
    flags[0] = 0;  // the very first entry follows none
    if (lists.crd.size() == 1) {
      if (compared > q && !stay_inside(lists, last, q, compared)) return false;
      if (compiled.flag_list(lists.crd[0], last[0], compared, stop, flags + (compared - q))) return false;
    } else {
      if (!stay_inside(lists, last, q, stop)) return false;
      compiled.flag(lists.crd.data(), lists.crd.size(), compared, stop, flags + (compared - q));
    }
    const std::int64_t next = parent_from(lists, parent, stop);
    compiled.clear(lists.pos, parent, next, q, flags);
    if (compiled.any(flags, stop - q)) return false;
    parent = next;
  }
  return true;
}

}  // namespace

template <class Position>
bool ascend(const Position* pos, std::int64_t parents, int threads) {
  return total(parents, threads, [pos](std::int64_t begin, std::int64_t end) -> std::int64_t {
           return loops<Position>().descend(pos, begin, end) ? 1 : 0;
         }) == 0;
}

template <class Position>
bool inside_extents(const EntryLists<Position>& lists, int threads) {
  const auto last = last_coordinates(lists);
  return total(lists.entries, threads, [&](std::int64_t begin, std::int64_t end) -> std::int64_t {
           return stay_inside(lists, last, begin, end) ? 0 : 1;
         }) == 0;
}

template <class Position>
bool in_order(const EntryLists<Position>& lists, int threads) {
  const auto last = last_coordinates(lists);
  return total(lists.entries, threads, [&](std::int64_t begin, std::int64_t end) -> std::int64_t {
           return range_in_order(lists, last, begin, end) ? 0 : 1;
         }) == 0;
}

template <class Position>
std::int64_t distinct(const EntryLists<Position>& lists) {
  std::int64_t sum = lists.entries > 0 ? 1 : 0;
  // Blocks begin at entry 1: each entry is compared with the one before it, and entry 0 is counted above.
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
template bool inside_extents(const EntryLists<std::int32_t>&, int);
template bool inside_extents(const EntryLists<std::int64_t>&, int);
template bool in_order(const EntryLists<std::int32_t>&, int);
template bool in_order(const EntryLists<std::int64_t>&, int);
template std::int64_t distinct(const EntryLists<std::int32_t>&);
template std::int64_t distinct(const EntryLists<std::int64_t>&);

}  // namespace schaas::client

/// A map of bytes: setting one neither loads it nor branches. Groups are a second level and blocks of them a
/// third one, so that compaction visits occupied ones alone. Groups are listed behind the indices, in the end
/// of the same list (loop_ir::list_elements).
#pragma once
#include "sort.h"
/* Occupancy: a byte for each index, then one for each group of 64 indices, then one for each block of 64 groups, so that
   gaps are skipped. Blocks are left out where all groups are searched at once. Few occupied indices are found in the list,
   whatever their distance. */
#define FEW_OCCUPIED 16
#define HAS_BLOCKS(extent) ((extent) > 65536)
UNUSED static inline unsigned char* groups_of(unsigned char* set, int64_t extent) { return set + (extent / 64 + 1) * 64; }
UNUSED static inline unsigned char* blocks_of(unsigned char* set, int64_t extent) {
  return groups_of(set, extent) + (extent / 4096 + 1) * 64;
}
#define OCCUPY(set, list, count, extent, index)                             \
  do {                                                                      \
    if ((count) < FEW_OCCUPIED) (list)[count] = (index);                    \
    ++(count);                                                              \
    (set)[index] = 255;                                                     \
    groups_of(set, extent)[(index) >> 6] = 255;                             \
    if (HAS_BLOCKS(extent)) blocks_of(set, extent)[(index) >> 12] = 255;    \
  } while (0)
/* Prepares `times` indices between `first` and `last`: returns 1 and occupies their groups when there are at least four for
   each group between these; else returns 0. */
UNUSED static inline int occupy_groups(unsigned char* set, int64_t extent, int64_t first, int64_t last, int64_t times) {
  if (4 * ((last >> 6) - (first >> 6) + 1) > times) return 0;
  for (int64_t group = first >> 6; group <= last >> 6; ++group) groups_of(set, extent)[group] = 255;
  if (HAS_BLOCKS(extent))
    for (int64_t block = first >> 12; block <= last >> 12; ++block) blocks_of(set, extent)[block] = 255;
  return 1;
}
#define OCCUPY_GROUPS(set, count, extent, first, last, times) \
  ((count) >= FEW_OCCUPIED && (times) > 0 && occupy_groups(set, extent, first, last, times))
/* Vectors whose occupied elements move together. */
#if defined(__AVX512BW__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_compresssi512_mask) && __has_builtin(__builtin_ia32_storedqusi512_mask)
#define LISTS_BY_VECTORS
#endif
#endif
/* Returns a bit for each of 64 bytes that is set; clears them. */
UNUSED static inline uint64_t take_64(unsigned char* bytes) {
#if defined(LISTS_BY_VECTORS)
  typedef char bytes64 __attribute__((vector_size(64), aligned(1), may_alias));
  bytes64* at = (bytes64*)bytes;
  const bytes64 some = *at;
  const uint64_t all = __builtin_ia32_cvtb2mask512(some);
  if (all != 0) *at = some ^ some;
#elif defined(__AVX2__)
  typedef char bytes32 __attribute__((vector_size(32), aligned(1), may_alias));
  bytes32* at = (bytes32*)bytes;
  const bytes32 low = at[0], high = at[1];
  const uint64_t all =
      (uint32_t)__builtin_ia32_pmovmskb256(low) | (uint64_t)(uint32_t)__builtin_ia32_pmovmskb256(high) << 32;
  if (all != 0) at[0] = at[1] = low ^ low;
#elif defined(__SSE2__)
  typedef char bytes16 __attribute__((vector_size(16), aligned(1), may_alias));
  bytes16* at = (bytes16*)bytes;
  const bytes16 zero = {0};
  uint64_t all = 0;
  for (int n = 0; n < 4; ++n) all |= (uint64_t)(uint32_t)__builtin_ia32_pmovmskb128(at[n]) << (16 * n);
  if (all != 0) at[0] = at[1] = at[2] = at[3] = zero;
#else
  uint64_t all = 0;
  for (int n = 0; n < 64; ++n) all |= (uint64_t)(bytes[n] >> 7) << n;
  if (all != 0) memset(bytes, 0, 64);
#endif
  return all;
}
/* Lists the first two of 64 without a branch that may be mispredicted: most have no more. */
#define LIST_TWO(list, left, base)                                            \
  for (int n = 0; n < 2; ++n, left &= left - (left != 0))                     \
    (list)[n] = (base) + __builtin_ctzll(left | (uint64_t)1 << 63)
#if defined(LISTS_BY_VECTORS)
typedef int lanes_of_32 __attribute__((vector_size(64)));
typedef long long lanes_of_64 __attribute__((vector_size(64)));
static const lanes_of_32 first_32 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const lanes_of_64 first_64 = {0, 1, 2, 3, 4, 5, 6, 7};
#define DEFINE_LIST_64(suffix, type, letter)                                                \
  UNUSED static inline type* list_64_##suffix(type* list, uint64_t left, int64_t base) {    \
    enum { each = 64 / sizeof(type) };                                                      \
    type* const end = list + __builtin_popcountll(left);                                    \
    if (end - list <= 2) {                                                                  \
      LIST_TWO(list, left, (type)base);                                                     \
      return end;                                                                           \
    }                                                                                       \
    for (int n = 0; n < 64; n += each) {                                                    \
      const uint64_t some = left >> n & (((uint64_t)1 << each) - 1);                        \
      const lanes_of_##suffix all = first_##suffix + ((type)base + n);                      \
      __builtin_ia32_storedqu##letter##i512_mask(                                           \
          (void*)(list + __builtin_popcountll(left & (((uint64_t)1 << n) - 1))),            \
          __builtin_ia32_compress##letter##i512_mask(all, all, some),                       \
          ((uint64_t)1 << __builtin_popcountll(some)) - 1);                                 \
    }                                                                                       \
    return end;                                                                             \
  }
#else
#define DEFINE_LIST_64(suffix, type, letter)                                                \
  UNUSED static inline type* list_64_##suffix(type* list, uint64_t left, int64_t base) {    \
    type* const end = list + __builtin_popcountll(left);                                    \
    LIST_TWO(list, left, (type)base);                                                       \
    for (list += 2; left != 0; left &= left - 1)                                            \
      *list++ = (type)(base + __builtin_ctzll(left));                                       \
    return end;                                                                             \
  }
#endif
DEFINE_LIST_64(32, int32_t, s)
DEFINE_LIST_64(64, int64_t, d)
/* Lists the occupied blocks, then their groups, then the indices of these. Blocks are listed where the indices will be. */
#define DEFINE_COMPACT(suffix, type)                                                                     \
  UNUSED static int64_t compact_##suffix(unsigned char* set, type* list, int64_t count,                  \
                                         int64_t extent) {                                               \
    unsigned char *const groups = groups_of(set, extent), *const blocks = blocks_of(set, extent);        \
    if (count <= FEW_OCCUPIED) {                                                                         \
      int64_t each = 0;                                                                                  \
      for (int64_t n = 0; n < count; ++n) {                                                              \
        const int64_t index = list[n];                                                                   \
        list[each] = (type)index;                                                                        \
        each += set[index] != 0;                                                                         \
        set[index] = groups[index >> 6] = 0;                                                             \
        if (HAS_BLOCKS(extent)) blocks[index >> 12] = 0;                                                 \
      }                                                                                                  \
      rank_sort_##suffix(list, each, 16);                                                                \
      return each;                                                                                       \
    }                                                                                                    \
    type *const occupied_groups = list + extent + 2, *end = occupied_groups, *at = list;                 \
    if (HAS_BLOCKS(extent)) {                                                                            \
      for (int64_t b = 0; b <= extent >> 12; b += 64) at = list_64_##suffix(at, take_64(blocks + b), b); \
      for (const type* block = list; block < at; ++block) {                                              \
        const int64_t group = (int64_t)*block << 6;                                                      \
        end = list_64_##suffix(end, take_64(groups + group), group);                                     \
      }                                                                                                  \
      at = list;                                                                                         \
    } else {                                                                                             \
      for (int64_t g = 0; g <= extent >> 6; g += 64)                                                     \
        end = list_64_##suffix(end, take_64(groups + g), g);                                             \
    }                                                                                                    \
    for (const type* group = occupied_groups; group < end; ++group) {                                    \
      const int64_t index = (int64_t)*group << 6;                                                        \
      at = list_64_##suffix(at, take_64(set + index), index);                                            \
    }                                                                                                    \
    return at - list;                                                                                    \
  }
DEFINE_COMPACT(32, int32_t)
DEFINE_COMPACT(64, int64_t)
#define COMPACT(set, list, count, extent) \
  _Generic((list), int32_t*: compact_32, int64_t*: compact_64)(set, list, count, extent)

/// Introsort (Musser, Software: Practice and Experience 27, 1997): quicksort, heap sort below a depth,
/// insertion sort of short ranges. Before it, lists of up to 64 distinct elements are sorted by rank, and
/// dense ones by a bitmap on the stack. An element that occurs twice is detected, and such lists go to the
/// general sort.
#pragma once
#include "vector.h"
#define DEFINE_SORT(suffix, type)                                              \
  UNUSED static void sift_##suffix(type* a, int64_t root, int64_t count) {                 \
    const type moved = a[root];                                                            \
    for (int64_t child = 2 * root + 1; child < count; root = child, child = 2 * root + 1) { \
      if (child + 1 < count && a[child] < a[child + 1]) ++child;                           \
      if (a[child] <= moved) break;                                                        \
      a[root] = a[child];                                                                  \
    }                                                                                      \
    a[root] = moved;                                                                       \
  }                                                                                        \
  UNUSED static void heap_sort_##suffix(type* a, int64_t count) {                          \
    for (int64_t root = count / 2; root-- > 0;) sift_##suffix(a, root, count);             \
    while (count-- > 1) {                                                                  \
      const type last = a[count];                                                          \
      a[count] = a[0];                                                                     \
      a[0] = last;                                                                         \
      sift_##suffix(a, 0, count);                                                          \
    }                                                                                      \
  }                                                                                        \
  UNUSED static void insertion_sort_##suffix(type* a, int64_t count) {                     \
    for (int64_t n = 1; n < count; ++n) {                                                  \
      const type moved = a[n];                                                             \
      int64_t at = n;                                                                      \
      for (; at > 0 && a[at - 1] > moved; --at) a[at] = a[at - 1];                         \
      a[at] = moved;                                                                       \
    }                                                                                      \
  }                                                                                        \
  UNUSED static type middle_##suffix(type a, type b, type c) {                             \
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);              \
  }                                                                                        \
  /* Quicksort; the partition moves every element and counts without a branch. Indices of  \
     a list differ, so ties cost nothing; bad pivots end in a heap sort. */                \
  UNUSED static void sort_##suffix(type* a, int64_t begin, int64_t end, int depth) {       \
    while (end - begin > 24) {                                                             \
      if (depth-- == 0) {                                                                  \
        heap_sort_##suffix(a + begin, end - begin);                                        \
        return;                                                                            \
      }                                                                                    \
      const type pivot = middle_##suffix(a[begin], a[begin + (end - begin) / 2], a[end - 1]); \
      int64_t less = begin;                                                                \
      for (int64_t n = begin; n < end; ++n) {                                              \
        const type moved = a[n];                                                           \
        a[n] = a[less];                                                                    \
        a[less] = moved;                                                                   \
        less += moved < pivot;                                                             \
      }                                                                                    \
      int64_t more = less;                                                                 \
      if (less == begin) {                                                                 \
        for (int64_t n = begin; n < end; ++n) {                                            \
          const type moved = a[n];                                                         \
          a[n] = a[more];                                                                  \
          a[more] = moved;                                                                 \
          more += moved == pivot;                                                          \
        }                                                                                  \
      }                                                                                    \
      if (less - begin < end - more) {                                                     \
        sort_##suffix(a, begin, less, depth);                                              \
        begin = more;                                                                      \
      } else {                                                                             \
        sort_##suffix(a, more, end, depth);                                                \
        end = less;                                                                        \
      }                                                                                    \
    }                                                                                      \
    if (end > begin) insertion_sort_##suffix(a + begin, end - begin);                      \
  }
DEFINE_SORT(32, int32_t)
DEFINE_SORT(64, int64_t)
/* Sorts a short list of distinct elements by rank: each goes to the index that is the number of smaller ones, counted
   in vectors, without a branch. Returns 0 when an element occurs twice. */
#define DEFINE_RANK_SORT(suffix, type, largest)                                            \
  typedef type lanes_##suffix __attribute__((vector_size(VECTOR_BYTES)));                  \
  UNUSED static ALWAYS_INLINE int rank_sort_##suffix(                                      \
      type* a, int64_t count, int width) {                                                 \
    enum { each = VECTOR_BYTES / sizeof(type), most = 64 / each };                         \
    union { type one[64]; lanes_##suffix some[most]; } x, rank;                            \
    lanes_##suffix smaller[most], all = {0};                                               \
    for (int n = 0; n < width; ++n) x.one[n] = n < count ? a[n] : largest;                 \
    for (int v = 0; v < width / each; ++v) smaller[v] = all;                               \
    for (int64_t m = 0; m < count; ++m) {                                                  \
      const type one = x.one[m];                                                           \
      for (int v = 0; v < width / each; ++v) smaller[v] -= x.some[v] > one;                \
    }                                                                                      \
    for (int v = 0; v < width / each; ++v) all += rank.some[v] = smaller[v];               \
    int64_t sum = -count * (width - count);                                                \
    for (int n = 0; n < each; ++n) sum += all[n];                                          \
    if (2 * sum != count * (count - 1)) return 0;                                          \
    for (int64_t n = 0; n < count; ++n) a[rank.one[n]] = x.one[n];                         \
    return 1;                                                                              \
  }
DEFINE_RANK_SORT(32, int32_t, INT32_MAX)
DEFINE_RANK_SORT(64, int64_t, INT64_MAX)
/* Sorts a list that is dense between its minimum and maximum by a bitmap: the first two elements of a word without a branch
   that may be mispredicted; a second bitmap finds the words where few hold any. Sorts by comparisons a list with an element
   twice, or too wide for a bitmap on the stack. */
#define LIST_WORDS 4096
#define DEFINE_SORT_LIST(suffix, type)                                                     \
  UNUSED static void sort_list_##suffix(type* a, int64_t begin, int64_t end) {             \
    const int64_t count = end - begin;                                                     \
    if (count <= 1) return;                                                                \
    if (count <= 16 ? rank_sort_##suffix(a + begin, count, 16)                             \
        : count <= 32 ? rank_sort_##suffix(a + begin, count, 32)                           \
        : count <= 64 && rank_sort_##suffix(a + begin, count, 64))                         \
      return;                                                                              \
    type least = a[begin], most = a[begin];                                                \
    for (int64_t p = begin + 1; p < end; ++p) {                                            \
      least = a[p] < least ? a[p] : least;                                                 \
      most = a[p] > most ? a[p] : most;                                                    \
    }                                                                                      \
    const int64_t first = (int64_t)least / 64, words = (int64_t)most / 64 - first + 1;     \
    if (words > LIST_WORDS || words > 32 * count) {                                        \
      sort_##suffix(a, begin, end, 96);                                                    \
      return;                                                                              \
    }                                                                                      \
    uint64_t bits[LIST_WORDS], used[LIST_WORDS / 64], twice = 0;                           \
    memset(bits, 0, (size_t)words * sizeof(uint64_t));                                     \
    memset(used, 0, (size_t)((words + 63) / 64) * sizeof(uint64_t));                       \
    const int dense = words <= 2 * count, steps = count < 2 * words ? 2 : 0;               \
    for (int64_t p = begin; p < end; ++p) {                                                \
      const int64_t word = (int64_t)a[p] / 64 - first;                                     \
      const uint64_t bit = (uint64_t)1 << ((uint64_t)a[p] % 64);                           \
      twice |= bits[word] & bit;                                                           \
      bits[word] |= bit;                                                                   \
      if (!dense) used[word / 64] |= (uint64_t)1 << (word % 64);                           \
    }                                                                                      \
    if (twice != 0) {                                                                      \
      sort_##suffix(a, begin, end, 96);                                                    \
      return;                                                                              \
    }                                                                                      \
    int64_t at = begin;                                                                    \
    for (int64_t word = 0; dense && at < end; ++word) {                                    \
      uint64_t left = bits[word];                                                          \
      const int64_t base = 64 * (first + word);                                            \
      for (int n = 0; n < steps && at < end; ++n, left &= left - (left != 0)) {            \
        a[at] = (type)(base + __builtin_ctzll(left | (uint64_t)1 << 63));                  \
        at += left != 0;                                                                   \
      }                                                                                    \
      for (; left != 0; left &= left - 1) a[at++] = (type)(base + __builtin_ctzll(left));  \
    }                                                                                      \
    for (int64_t u = 0; at < end; ++u) {                                                   \
      for (uint64_t some = used[u]; some != 0; some &= some - 1) {                         \
        const int64_t word = 64 * u + __builtin_ctzll(some);                               \
        for (uint64_t left = bits[word]; left != 0; left &= left - 1)                      \
          a[at++] = (type)(64 * (first + word) + __builtin_ctzll(left));                   \
      }                                                                                    \
    }                                                                                      \
  }
DEFINE_SORT_LIST(32, int32_t)
DEFINE_SORT_LIST(64, int64_t)
#define SORT(a, begin, end) _Generic((a), int32_t*: sort_list_32, int64_t*: sort_list_64)(a, begin, end)

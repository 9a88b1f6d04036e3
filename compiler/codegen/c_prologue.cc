#include "compiler/codegen/c_prologue.h"

// The C runtime of kernels, as texts from which each kernel prints those it needs. One text serves all
// instruction sets: predefined macros choose the width of vectors, and plain C stands beside each use of an
// instruction. Functions over indices are made by macros for 32 and 64 bits and chosen by _Generic. Nothing
// here allocates, is exported, or keeps state between calls; sizes of buffers are those that lowering
// declares.
namespace schaas::codegen {

/// Vectors are unaligned and may alias, so that they are loaded from and stored to any array of values.
/// FIRST and LAST mask a register with a window into bytes of zeros, ones and zeros, without a branch.
/// sum_four adds four registers while it transposes them.
std::string_view vector_declarations() {
  return R"(#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define VECTOR_TYPE(bytes) __attribute__((vector_size(bytes), aligned(sizeof(value)), may_alias))
typedef value vec VECTOR_TYPE(VECTOR_BYTES);
typedef value vec32 VECTOR_TYPE(32);
typedef value vec16 VECTOR_TYPE(16);
#define UNUSED __attribute__((unused))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define UNROLL(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLL(n) PRAGMA(GCC unroll n)
#endif
#define WIDTH(type) ((int64_t)(sizeof(type) / sizeof(value)))
#define PADDED_OF(type, count) (((int64_t)(count) * (int64_t)sizeof(type) + 63) / 64 * 64)
#define PADDED(count) PADDED_OF(value, count)
/* A register of which the first or the last `count` elements stay; the others become zero. */
typedef uint64_t vec_bits VECTOR_TYPE(VECTOR_BYTES);
typedef uint64_t vec32_bits VECTOR_TYPE(32);
typedef uint64_t vec16_bits VECTOR_TYPE(16);
typedef uint64_t vec4_bits VECTOR_TYPE(4 * sizeof(value));
UNUSED static const unsigned char mask_bytes[192] = {[64 ... 127] = 255};
#define MASKED(type, x, at) ((type)((type##_bits)(x) & *(const type##_bits*)(mask_bytes + (at))))
#define FIRST(type, x, count) MASKED(type, x, 128 - (count) * (int64_t)sizeof(value))
#define LAST(type, x, count) MASKED(type, x, 64 - (int64_t)sizeof(type) + (count) * (int64_t)sizeof(value))
UNUSED static inline value sum16(vec16 v) {
  value sum = v[0];
  for (int n = 1; n < WIDTH(vec16); ++n) sum += v[n];
  return sum;
}
UNUSED static inline value sum32(vec32 v) {
  const union { vec32 whole; vec16 half[2]; } u = {v};
  return sum16(u.half[0] + u.half[1]);
}
#if VECTOR_BYTES == 64
UNUSED static inline value sum64(vec v) {
  const union { vec whole; vec32 half[2]; } u = {v};
  return sum32(u.half[0] + u.half[1]);
}
#define SUM sum64
#elif VECTOR_BYTES == 32
#define SUM sum32
#else
#define SUM sum16
#endif
typedef value vec4 VECTOR_TYPE(4 * sizeof(value));
UNUSED static inline value sum4(vec4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }
UNUSED static inline vec4 fold4(vec v) {
  union { vec4 four[4]; vec whole; } u = {{{0}}};
  u.whole = v;
  if (WIDTH(vec) == 16) return (u.four[0] + u.four[2]) + (u.four[1] + u.four[3]);
  if (WIDTH(vec) == 8) return u.four[0] + u.four[1];
  return u.four[0];
}
#define PICK4 __builtin_shufflevector
UNUSED static inline vec4 sum_four(vec a, vec b, vec c, vec d) {
  const vec4 a4 = fold4(a), b4 = fold4(b), c4 = fold4(c), d4 = fold4(d);
  const vec4 ab = PICK4(a4, b4, 0, 4, 2, 6) + PICK4(a4, b4, 1, 5, 3, 7);
  const vec4 cd = PICK4(c4, d4, 0, 4, 2, 6) + PICK4(c4, d4, 1, 5, 3, 7);
  return PICK4(ab, cd, 0, 1, 4, 5) + PICK4(ab, cd, 2, 3, 6, 7);
}
#define DEFINE_SEARCH(name, type)                                                     \
  UNUSED static int64_t name(const type* a, int64_t low, int64_t high, int64_t key) { \
    while (low < high) {                                                              \
      const int64_t middle = low + (high - low) / 2;                                  \
      if (a[middle] < key) low = middle + 1; else high = middle;                      \
    }                                                                                 \
    return low;                                                                       \
  }
DEFINE_SEARCH(search_32, int32_t)
DEFINE_SEARCH(search_64, int64_t)
#define SEARCH(a, low, high, key) \
  _Generic((a), const int32_t*: search_32, const int64_t*: search_64)(a, low, high, key)
)";
}

/// Open addressing with linear probing and Fibonacci hashing: the factor is 2^64 over the golden ratio.
/// Tables have a power of two of slots, at most half of them occupied, so each search ends. Slots of hashed
/// levels are free below 0, those of tables that kernels fill at 0.
std::string_view find_declarations() {
  return R"(#define DEFINE_FIND(name, type)                                             \
  UNUSED static inline int64_t name(const type* a, int64_t low, int64_t high, int64_t key) { \
    if (low == high) return -1;                                                         \
    const uint64_t mask = (uint64_t)(high - low) - 1;                                   \
    uint64_t at = (((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;        \
    for (;; at = (at + 1) & mask) {                                                     \
      const int64_t here = a[low + (int64_t)at];                                        \
      if (here == key) return low + (int64_t)at;                                        \
      if (here < 0) return -1;                                                          \
    }                                                                                   \
  }
DEFINE_FIND(find_32, int32_t)
DEFINE_FIND(find_64, int64_t)
#define FIND(a, low, high, key) \
  _Generic((a), const int32_t*: find_32, const int64_t*: find_64)(a, low, high, key)
/* Finds the slot in a table that is being filled: free slots are 0, others keys, above 0. */
#define DEFINE_SLOT(name, type)                                                         \
  UNUSED static inline int64_t name(const type* a, int64_t low, int64_t high, int64_t key) { \
    const uint64_t mask = (uint64_t)(high - low) - 1;                                   \
    uint64_t at = (((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;        \
    for (;; at = (at + 1) & mask) {                                                     \
      const int64_t here = a[low + (int64_t)at];                                        \
      if (here == key || here == 0) return low + (int64_t)at;                           \
    }                                                                                   \
  }
DEFINE_SLOT(slot_32, int32_t)
DEFINE_SLOT(slot_64, int64_t)
#define SLOT(a, low, high, key) \
  _Generic((a), int32_t*: slot_32, int64_t*: slot_64)(a, low, high, key)
)";
}

/// Compare-and-swap loops on the bits of values. Relaxed order suffices: barriers between phases order what
/// others read.
std::string_view atomic_declarations() {
  return R"(#define DEFINE_ATOMIC(name, folded)                                        \
  UNUSED static inline void atomic_##name(value* at, value x) {                        \
    value seen, next;                                                                  \
    __atomic_load(at, &seen, __ATOMIC_RELAXED);                                        \
    do {                                                                               \
      next = (folded);                                                                 \
    } while (!__atomic_compare_exchange(at, &seen, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
  }
DEFINE_ATOMIC(sum, seen + x)
DEFINE_ATOMIC(prod, seen * x)
DEFINE_ATOMIC(min, x < seen ? x : seen)
DEFINE_ATOMIC(max, x > seen ? x : seen)
DEFINE_ATOMIC(or, (value)((seen != 0) | (x != 0)))
DEFINE_ATOMIC(and, (value)((seen != 0) & (x != 0)))
)";
}

/// One macro defines each function for a value and, below, for registers, so that both have the same
/// results. Extremes keep the first argument unless the second is beyond it, also with NaN. sigmoid takes
/// exp of a negative argument, which never overflows.
std::string_view function_declarations() {
  return R"(#include <math.h>
#define SELECT_ONE(type, condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define DEFINE_ONE(type, name, result) \
  UNUSED static inline type type##_##name(type x) { const type zero = {0}, one = zero + (value)1; (void)one; return result; }
#define DEFINE_TWO(type, name, result) \
  UNUSED static inline type type##_##name(type a, type b) { const type zero = {0}, one = zero + (value)1; (void)zero, (void)one; return result; }
#define DEFINE_FUNCTIONS(type, SELECT)                                                  \
  DEFINE_TWO(type, minimum, SELECT(type, b < a, b, a))                                  \
  DEFINE_TWO(type, maximum, SELECT(type, b > a, b, a))                                  \
  DEFINE_TWO(type, less, SELECT(type, a < b, one, zero))                                \
  DEFINE_TWO(type, less_equal, SELECT(type, a <= b, one, zero))                         \
  DEFINE_TWO(type, greater, SELECT(type, a > b, one, zero))                             \
  DEFINE_TWO(type, greater_equal, SELECT(type, a >= b, one, zero))                      \
  DEFINE_TWO(type, equal, SELECT(type, a == b, one, zero))                              \
  DEFINE_TWO(type, not_equal, SELECT(type, a != b, one, zero))                          \
  DEFINE_TWO(type, and, SELECT(type, (a != zero) & (b != zero), one, zero))             \
  DEFINE_TWO(type, or, SELECT(type, (a != zero) | (b != zero), one, zero))              \
  DEFINE_ONE(type, not, SELECT(type, x == zero, one, zero))                             \
  DEFINE_ONE(type, abs, SELECT(type, x <= zero, zero - x, x))                           \
  DEFINE_ONE(type, relu, SELECT(type, x > zero, x, zero))                               \
  DEFINE_ONE(type, sign, SELECT(type, x > zero, one, SELECT(type, x < zero, -one, zero))) \
  UNUSED static inline type type##_where(type c, type a, type b) {                      \
    const type zero = {0};                                                              \
    return SELECT(type, c != zero, a, b);                                               \
  }
DEFINE_FUNCTIONS(value, SELECT_ONE)
#define DEFINE_MATH(name, called) \
  UNUSED static inline value value_##name(value x) { return called(x); }
DEFINE_MATH(log, MATH(log))
DEFINE_MATH(sqrt, MATH(sqrt))
DEFINE_MATH(sin, MATH(sin))
DEFINE_MATH(cos, MATH(cos))
DEFINE_MATH(tan, MATH(tan))
DEFINE_MATH(floor, MATH(floor))
DEFINE_MATH(ceil, MATH(ceil))
DEFINE_MATH(round, MATH(nearbyint))
#define DEFINE_SIGMOID(type, SELECT)                                                    \
  UNUSED static inline type type##_sigmoid(type x) {                                    \
    const type zero = {0}, one = zero + (value)1, e = type##_exp(-type##_abs(x));       \
    return SELECT(type, x < zero, e, one) / (one + e);                                  \
  }
#define DEFINE_LIBRARY_EXPONENTIALS DEFINE_MATH(exp, MATH(exp)) DEFINE_MATH(tanh, MATH(tanh))
/* Small whole powers known to the compiler are products: each call of pow costs some 30 of them. */
UNUSED static ALWAYS_INLINE value value_power(value a, value b) {
  if (__builtin_constant_p(b) && b == 2) return a * a;
  if (__builtin_constant_p(b) && b == 3) return a * a * a;
  return MATH(pow)(a, b);
}
)";
}

/// Masks of comparisons select lanes. Functions without a vector form are called for each lane.
std::string_view vector_function_declarations() {
  return R"(#define SELECT_LANES(type, condition, then, otherwise) \
  ((type)(((condition) & (__typeof__(condition))(then)) | (~(condition) & (__typeof__(condition))(otherwise))))
DEFINE_FUNCTIONS(vec, SELECT_LANES)
DEFINE_FUNCTIONS(vec32, SELECT_LANES)
DEFINE_FUNCTIONS(vec16, SELECT_LANES)
#define DEFINE_EACH(type, name)                                           \
  UNUSED static inline type type##_##name(type x) {                       \
    for (int n = 0; n < WIDTH(type); ++n) x[n] = value_##name(x[n]);      \
    return x;                                                             \
  }
#define DEFINE_EACH_TYPE(name) DEFINE_EACH(vec, name) DEFINE_EACH(vec32, name) DEFINE_EACH(vec16, name)
DEFINE_EACH_TYPE(log)
DEFINE_EACH_TYPE(sqrt)
DEFINE_EACH_TYPE(sin)
DEFINE_EACH_TYPE(cos)
DEFINE_EACH_TYPE(tan)
DEFINE_EACH_TYPE(floor)
DEFINE_EACH_TYPE(ceil)
DEFINE_EACH_TYPE(round)
#define DEFINE_POWER(type)                                                    \
  UNUSED static ALWAYS_INLINE type type##_power(type a, type b) {             \
    if (__builtin_constant_p(b[0]) && b[0] == 2) return a * a;                \
    if (__builtin_constant_p(b[0]) && b[0] == 3) return a * a * a;            \
    for (int n = 0; n < WIDTH(type); ++n) a[n] = MATH(pow)(a[n], b[n]);       \
    return a;                                                                 \
  }
DEFINE_POWER(vec)
DEFINE_POWER(vec32)
DEFINE_POWER(vec16)
)";
}

/// A map of bytes: setting one neither loads it nor branches. Groups are a second level, so that compaction
/// visits occupied groups alone. These are listed behind the indices, in the end of the same list
/// (loop_ir::list_elements).
std::string_view occupancy_declarations() {
  return R"(/* Occupancy: a byte for each index, then one for each group of indices, so that gaps are skipped by groups of groups. A
   group has 64 indices, or about as many as there are groups of them among 16 occupied ones. Few occupied indices are found
   in the list, whatever their distance. */
#define FEW_OCCUPIED 16
UNUSED static inline int group_shift(int64_t extent) {
  const int bits = 63 - __builtin_clzll((uint64_t)extent | 1);
  return bits <= 16 ? 6 : 6 + (bits - 15) / 2;
}
UNUSED static inline unsigned char* groups_of(unsigned char* set, int64_t extent) { return set + (extent / 64 + 1) * 64; }
#define OCCUPY(set, list, count, extent, index)                             \
  do {                                                                      \
    if ((count) < FEW_OCCUPIED) (list)[count] = (index);                    \
    ++(count);                                                              \
    (set)[index] = 255;                                                     \
    groups_of(set, extent)[(index) >> group_shift(extent)] = 255;           \
  } while (0)
/* Prepares `times` indices between `first` and `last`: returns 1 and occupies their groups when there are at least four for
   each group between these; else returns 0. */
UNUSED static inline int occupy_groups(unsigned char* groups, int64_t first, int64_t last, int64_t times) {
  if (4 * (last - first + 1) > times) return 0;
  for (int64_t group = first; group <= last; ++group) groups[group] = 255;
  return 1;
}
#define OCCUPY_GROUPS(set, count, extent, first, last, times)                                        \
  ((count) >= FEW_OCCUPIED && (times) > 0 &&                                                         \
   occupy_groups(groups_of(set, extent), (first) >> group_shift(extent), (last) >> group_shift(extent), times))
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
/* Compacts first the occupied groups, then their indices. */
#define DEFINE_COMPACT(suffix, type)                                                        \
  UNUSED static int64_t compact_##suffix(unsigned char* set, type* list, int64_t count,     \
                                         int64_t extent) {                                  \
    const int shift = group_shift(extent);                                                  \
    unsigned char* const groups = groups_of(set, extent);                                   \
    if (count <= FEW_OCCUPIED) {                                                            \
      int64_t each = 0;                                                                     \
      for (int64_t n = 0; n < count; ++n) {                                                 \
        const int64_t index = list[n];                                                      \
        list[each] = (type)index;                                                           \
        each += set[index] != 0;                                                            \
        set[index] = groups[index >> shift] = 0;                                            \
      }                                                                                     \
      rank_sort_##suffix(list, each, 16);                                                   \
      return each;                                                                          \
    }                                                                                       \
    type *const occupied_groups = list + extent + 2, *end = occupied_groups, *at = list;    \
    for (int64_t g = 0; g <= extent >> shift; g += 64)                                      \
      end = list_64_##suffix(end, take_64(groups + g), g);                                  \
    if (shift == 6) {                                                                       \
      for (const type* group = occupied_groups; group < end; ++group) {                     \
        const int64_t index = (int64_t)*group << 6;                                         \
        at = list_64_##suffix(at, take_64(set + index), index);                             \
      }                                                                                     \
      return at - list;                                                                     \
    }                                                                                       \
    for (const type* group = occupied_groups; group < end; ++group) {                       \
      int64_t index = (int64_t)*group << shift;                                             \
      const int64_t after = index + ((int64_t)1 << shift);                                  \
      for (; index < after && index < extent; index += 64)                                  \
        at = list_64_##suffix(at, take_64(set + index), index);                             \
    }                                                                                       \
    return at - list;                                                                       \
  }
DEFINE_COMPACT(32, int32_t)
DEFINE_COMPACT(64, int64_t)
#define COMPACT(set, list, count, extent) \
  _Generic((list), int32_t*: compact_32, int64_t*: compact_64)(set, list, count, extent)
)";
}

/// Introsort (Musser, Software: Practice and Experience 27, 1997): quicksort, heap sort below a depth,
/// insertion sort of short ranges. Before it, lists of up to 64 distinct elements are sorted by rank, and
/// dense ones by a bitmap on the stack. An element that occurs twice is detected, and such lists go to the
/// general sort.
std::string_view sort_declarations() {
  return R"(#define DEFINE_SORT(suffix, type)                                              \
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
)";
}

/// PREFETCH leaves out vectors of a cache line that an earlier one has prefetched.
std::string_view prefetch_declarations() {
  return R"(#define LARGE_BYTES (3 << 20)
#define PREFETCH(n, p) do { if ((n) * VECTOR_BYTES % 64 == 0) __builtin_prefetch(p); } while (0)
UNUSED static inline int is_large(const schaas_tensor* tensor) {
  int64_t bytes = sizeof(value), row = bytes;
  for (int32_t mode = 0; mode < tensor->order; ++mode) row = sizeof(value) * tensor->extents[mode], bytes *= tensor->extents[mode];
  return bytes > (row > 256 ? 4 * LARGE_BYTES : LARGE_BYTES);
}
)";
}

/// clang has one builtin for all vectors, GCC one for each type and width.
std::string_view streaming_store_declarations() {
  return R"(#define IS_ALIGNED(p) (((uintptr_t)(p) & (sizeof(vec) - 1)) == 0)
#if defined(__clang__)
#define STREAM(p, v) __builtin_nontemporal_store((v), (value __attribute__((vector_size(VECTOR_BYTES)))*)(p))
#elif defined(__SSE2__)
typedef double stream_double __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float stream_float __attribute__((vector_size(VECTOR_BYTES), may_alias));
#if VECTOR_BYTES == 64
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix##512
#elif VECTOR_BYTES == 32
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix##256
#else
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix
#endif
UNUSED static inline void stream_f64(double* p, vec v) { STREAM_AS(pd)(p, (stream_double)v); }
UNUSED static inline void stream_f32(float* p, vec v) { STREAM_AS(ps)(p, (stream_float)v); }
#define STREAM(p, v) _Generic((p), double*: stream_f64, float*: stream_f32)((p), (v))
#else
#define STREAM(p, v) (void)(*(vec*)(p) = (v))
#endif
#define STREAM_STORE(streaming, p, v) do { if (streaming) STREAM((p), (v)); else *(vec*)(p) = (v); } while (0)
#if defined(__SSE2__)
#define STREAM_FENCE __builtin_ia32_sfence()
#else
#define STREAM_FENCE (void)0
#endif
)";
}

}  // namespace schaas::codegen

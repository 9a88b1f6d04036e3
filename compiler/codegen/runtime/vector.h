/// Vectors are unaligned and may alias, so that they are loaded from and stored to any array of values.
/// FIRST and LAST mask a register with a window into bytes of zeros, ones and zeros, without a branch.
/// sum_four adds four registers while it transposes them.
#pragma once
#include "value.h"
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#if !defined(VALUE_IS_COMPLEX)
typedef value value_part;
#endif
#define VECTOR_TYPE(bytes) __attribute__((vector_size(bytes), aligned(sizeof(value_part)), may_alias))
typedef value_part vec VECTOR_TYPE(VECTOR_BYTES);
typedef value_part vec32 VECTOR_TYPE(32);
typedef value_part vec16 VECTOR_TYPE(16);
/* Values in a register; complex ones take two of its elements. */
#if defined(VALUE_IS_COMPLEX)
#define LANE(type, x, lane) (((const union { type all; value lanes[sizeof(type) / sizeof(value)]; }){x}).lanes[lane])
#define SET_LANE(type, x, lane, to)                                           \
  do {                                                                        \
    union { type all; value lanes[sizeof(type) / sizeof(value)]; } u = {x};   \
    u.lanes[lane] = to;                                                       \
    x = u.all;                                                                \
  } while (0)
#else
#define LANE(type, x, lane) ((x)[lane])
#endif
#define UNUSED __attribute__((unused))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
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
#if !defined(VALUE_IS_COMPLEX)
typedef value_word vec4_bits VECTOR_TYPE(4 * sizeof(value));
#endif
UNUSED static const unsigned char mask_bytes[192] = {[64 ... 127] = 255};
#define MASK(type, at) (*(const type##_bits*)(mask_bytes + (at)))
#define MASK_OF_FIRST(type, count) MASK(type, 128 - (count) * (int64_t)sizeof(value))
#define MASKED(type, x, mask) ((type)((type##_bits)(x) & mask))
#define FIRST(type, x, count) MASKED(type, x, MASK_OF_FIRST(type, count))
#define FIRST_OR(type, x, count, rest) /* with other elements in place of zeros */ \
  ((type)(((type##_bits)(x) & MASK_OF_FIRST(type, count)) | ((type##_bits)(rest) & ~MASK_OF_FIRST(type, count))))
#define LAST(type, x, count) \
  MASKED(type, x, MASK(type, 64 - (int64_t)sizeof(type) + (count) * (int64_t)sizeof(value)))
/* The first `count` elements at `p`, at most a register, then zeros. What follows them is not read. */
UNUSED static ALWAYS_INLINE vec load_first(const value* p, int64_t count) {
#if defined(VALUE_IS_COMPLEX)
  const int64_t elements = 2 * count;
  if (__builtin_constant_p(count) && count == 1) return (vec){__real__ *p, __imag__ *p};
#else
  const int64_t elements = count;
  if (__builtin_constant_p(count) && count == 1) return (vec){*p};
#endif
#if VALUE_BYTES < 4 || (defined(VALUE_IS_COMPLEX) && VECTOR_BYTES == 16)
  (void)elements;
  vec first = {0};
  memcpy(&first, p, (size_t)count * sizeof(value));
  return first;
#elif VECTOR_BYTES == 64
  typedef double doubles __attribute__((vector_size(64)));
  typedef float floats __attribute__((vector_size(64)));
  const uint32_t some = (1u << elements) - 1;
  if (sizeof(value_part) == 4) return (vec)__builtin_ia32_loadups512_mask((const void*)p, (floats){0}, (unsigned short)some);
  return (vec)__builtin_ia32_loadupd512_mask((const void*)p, (doubles){0}, (unsigned char)some);
#elif VECTOR_BYTES == 32
  (void)elements;
  typedef int ints __attribute__((vector_size(32)));
  typedef long long words __attribute__((vector_size(32)));
  const vec_bits some = MASK_OF_FIRST(vec, count);
  if (sizeof(value) == 4) return (vec)__builtin_ia32_maskloadps256((const void*)p, (ints)some);
  return (vec)__builtin_ia32_maskloadpd256((const void*)p, (words)some);
#else
  vec first = {0};
  for (int n = 0; n < WIDTH(vec); ++n) {
    if (n < elements) first[n] = p[n];
  }
  return first;
#endif
}
/* Stores or adds the first `count` elements of `x`, at most a register, in halves: a later load of the same
   halves need not wait until they are in the cache, as one of a whole register would. */
#if VECTOR_BYTES == 64
#define HALVES_32(x, p, count, OPERATOR)                                      \
  const union { vec whole; vec32 half[2]; } by_32 = {x};                      \
  vec32 rest_32 = by_32.half[0];                                              \
  if (count & WIDTH(vec32)) {                                                 \
    *(vec32*)p OPERATOR rest_32;                                              \
    p += WIDTH(vec32);                                                        \
    rest_32 = by_32.half[1];                                                  \
  }
#else
#define HALVES_32(x, p, count, OPERATOR) const vec rest_32 = x;
#endif
#if VECTOR_BYTES >= 32
#define HALVES_16(p, count, OPERATOR)                                         \
  const union { vec32 whole; vec16 half[2]; } by_16 = {rest_32};              \
  vec16 rest_16 = by_16.half[0];                                              \
  if (count & WIDTH(vec16)) {                                                 \
    *(vec16*)p OPERATOR rest_16;                                              \
    p += WIDTH(vec16);                                                        \
    rest_16 = by_16.half[1];                                                  \
  }
#else
#define HALVES_16(p, count, OPERATOR) const vec16 rest_16 = rest_32;
#endif
#define DEFINE_FIRST(name, OPERATOR)                                          \
  UNUSED static ALWAYS_INLINE void name(value* p, vec x, int64_t count) {     \
    if (count >= WIDTH(vec)) {                                                \
      *(vec*)p OPERATOR x;                                                    \
      return;                                                                 \
    }                                                                         \
    HALVES_32(x, p, count, OPERATOR)                                          \
    HALVES_16(p, count, OPERATOR)                                             \
    for (int n = 0; n + 1 < WIDTH(vec16); ++n) {                              \
      if (n < (count & (WIDTH(vec16) - 1))) p[n] OPERATOR LANE(vec16, rest_16, n);         \
    }                                                                         \
  }
DEFINE_FIRST(store_first, =)
DEFINE_FIRST(add_first, +=)
UNUSED static inline value sum16(vec16 v) {
  value sum = LANE(vec16, v, 0);
  for (int n = 1; n < WIDTH(vec16); ++n) sum += LANE(vec16, v, n);
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
#if !defined(VALUE_IS_COMPLEX)
typedef value vec4 VECTOR_TYPE(4 * sizeof(value));
UNUSED static inline value sum4(vec4 v) { return (v[0] + v[1]) + (v[2] + v[3]); }
UNUSED static inline vec4 fold4(vec v) {
  union { vec4 four[VECTOR_BYTES / 4 / VALUE_BYTES > 4 ? VECTOR_BYTES / 4 / VALUE_BYTES : 4]; vec whole; } u = {{{0}}};
  u.whole = v;
#if VALUE_BYTES < 4
  vec4 sum = u.four[0];
  for (int n = 1; n < WIDTH(vec) / 4; ++n) sum += u.four[n];
  return sum;
#endif
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
#endif
/* Branches on entries would be mispredicted: halves without any until at most eight entries are left. Where an instruction loads so
   many, however few there are, they are compared at once. Elsewhere the first four and the last four are counted, and a list of up to
   five is walked: how many steps that takes is learned where few lists are searched again and again. */
#define HALVE(a, low, count, key)                               \
  while (count > 8) {                                           \
    const int64_t half = count / 2;                             \
    low = a[low + half - 1] < key ? low + half : low;           \
    count -= half;                                              \
  }
#if defined(__AVX2__)
/* Bits of those of up to eight entries that are below the key, or equal to it. Coordinates are below INT32_MAX. */
#define DEFINE_COMPARED_32(name, OPERATOR)                                                                \
  UNUSED static ALWAYS_INLINE uint32_t name(const int32_t* a, int64_t count, int64_t key) {               \
    typedef int ints __attribute__((vector_size(32)));                                                    \
    typedef float floats __attribute__((vector_size(32)));                                                \
    typedef int some_ints __attribute__((vector_size(32), aligned(1), may_alias));                        \
    const ints first = (ints)*(const some_ints*)(mask_bytes + 128 - 4 * count);                           \
    const ints list = (ints)__builtin_ia32_maskloadd256((const void*)a, first);                           \
    const int wanted = key < INT32_MAX ? (int)key : INT32_MAX;                                            \
    return (uint32_t)__builtin_ia32_movmskps256((floats)((list OPERATOR ((ints){0} + wanted)) & first));                \
  }
DEFINE_COMPARED_32(below_32, <)
DEFINE_COMPARED_32(equal_32, ==)
#endif
#if defined(__AVX512DQ__)
#define DEFINE_COMPARED_64(name, OPERATOR)                                                                \
  UNUSED static ALWAYS_INLINE uint32_t name(const int64_t* a, int64_t count, int64_t key) {               \
    typedef long long longs __attribute__((vector_size(64)));                                             \
    const uint32_t first = (1u << count) - 1;                                                             \
    const longs list = (longs)__builtin_ia32_loaddqudi512_mask((const void*)a, (longs){0}, (unsigned char)first); \
    return first & (unsigned char)__builtin_ia32_cvtq2mask512((longs)(list OPERATOR ((longs){0} + (long long)key)));     \
  }
DEFINE_COMPARED_64(below_64, <)
DEFINE_COMPARED_64(equal_64, ==)
#endif
#define DEFINE_COMPARED_SEARCH(bits)                                                                      \
  UNUSED static inline int64_t search_##bits(const int##bits##_t* a, int64_t low, int64_t high, int64_t key) { \
    int64_t count = high - low;                                                                           \
    HALVE(a, low, count, key)                                                                             \
    return low + __builtin_popcount(below_##bits(a + low, count > 0 ? count : 0, key));                \
  }                                                                                                       \
  UNUSED static inline int64_t match_##bits(const int##bits##_t* a, int64_t low, int64_t high, int64_t key) { \
    int64_t count = high - low;                                                                           \
    HALVE(a, low, count, key)                                                                             \
    const uint32_t found = equal_##bits(a + low, count > 0 ? count : 0, key);                                             \
    return found ? low + __builtin_ctz(found) : -1;                                                       \
  }
#define FOUR_BELOW(a, key) \
  ((int64_t)((a)[0] < (key)) + ((a)[1] < (key)) + ((a)[2] < (key)) + ((a)[3] < (key)))
#define DEFINE_SEARCH(bits)                                                           \
  UNUSED static int64_t search_##bits(const int##bits##_t* a, int64_t low, int64_t high, int64_t key) { \
    int64_t count = high - low;                                                       \
    if (count < 6) {                                                                  \
      while (low < high && a[low] < key) ++low;                                       \
      return low;                                                                     \
    }                                                                                 \
    HALVE(a, low, count, key)                                                         \
    const int64_t first = FOUR_BELOW(a + low, key);                                   \
    const int64_t last = FOUR_BELOW(a + low + count - 4, key);                        \
    return low + (last > 0 ? count - 4 + last : first);                               \
  }                                                                                   \
  UNUSED static inline int64_t match_##bits(const int##bits##_t* a, int64_t low, int64_t high, int64_t key) { \
    const int64_t at = search_##bits(a, low, high, key);                              \
    return at < high && a[at] == key ? at : -1;                                       \
  }
#if defined(__AVX2__)
DEFINE_COMPARED_SEARCH(32)
#else
DEFINE_SEARCH(32)
#endif
#if defined(__AVX512DQ__)
DEFINE_COMPARED_SEARCH(64)
#else
DEFINE_SEARCH(64)
#endif
#define SEARCH(a, low, high, key) \
  _Generic((a), const int32_t*: search_32, const int64_t*: search_64)(a, low, high, key)
/* The position of the key in a list of ascending distinct coordinates, else -1. */
#define MATCH(a, low, high, key) \
  _Generic((a), const int32_t*: match_32, const int64_t*: match_64)(a, low, high, key)

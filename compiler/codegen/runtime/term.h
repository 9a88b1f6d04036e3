/// Expand-sort-compress (Dalton, Olson, Bell: Optimizing sparse matrix-matrix multiplication for the GPU, ACM
/// TOMS 41, 2015), in vectors without branches that depend on coordinates; lists have room for the whole vectors
/// that are stored past their ends.
///
/// Sorting by rank compares all pairs, in vectors, which suits the few terms of a list. The ranks add up to
/// count * (count - 1) / 2 exactly when all coordinates differ; then terms only move. Else terms of one
/// coordinate have one rank and are summed there, in their order. Padding with the largest index fills the
/// last vector; its contribution to the ranks is subtracted.
#pragma once
#include "vector.h"
/* loop_ir::max_terms */
#define MAX_TERMS 128
#if defined(__AVX512VL__) && defined(__has_builtin) && VALUE_BYTES >= 4 && !defined(VALUE_IS_COMPLEX)
#if __has_builtin(__builtin_ia32_loadupd512_mask) && __has_builtin(__builtin_ia32_compressdf512_mask)
#define TERMS_BY_VECTORS
#endif
#endif
#define EXPAND_EACH(index, name)                                                       \
  for (; begin < end; ++begin) {                                                       \
    *list++ = coordinates[begin];                                                      \
    *values++ = PRODUCT_##name(scale, from[begin]);                                    \
  }
#if defined(TERMS_BY_VECTORS)
#define DEFINE_EIGHT(name, type, load, compress)                                               \
  typedef type name##_8 __attribute__((vector_size(8 * sizeof(type)), aligned(sizeof(type)), may_alias)); \
  UNUSED static inline name##_8 load_##name(const type* from, unsigned char some) {            \
    return (name##_8)load((const void*)from, (name##_8){0}, some);                             \
  }                                                                                            \
  UNUSED static inline void compress_##name(type* to, const type* from, unsigned char some) {  \
    *(name##_8*)to = (name##_8)compress(*(const name##_8*)from, (name##_8){0}, some);          \
  }
DEFINE_EIGHT(f64, double, __builtin_ia32_loadupd512_mask, __builtin_ia32_compressdf512_mask)
DEFINE_EIGHT(f32, float, __builtin_ia32_loadups256_mask, __builtin_ia32_compresssf256_mask)
DEFINE_EIGHT(i32, int32_t, __builtin_ia32_loaddqusi256_mask, __builtin_ia32_compresssi256_mask)
DEFINE_EIGHT(i64, long long, __builtin_ia32_loaddqudi512_mask, __builtin_ia32_compressdi512_mask)
typedef value value_8 __attribute__((vector_size(8 * sizeof(value)), aligned(sizeof(value)), may_alias));
#if VALUE_BYTES == 8
#define LOAD_8(p, some) ((value_8)load_f64((const void*)(p), some))
#define COMPRESS_8(to, from, some) compress_f64((void*)(to), (const void*)(from), some)
#else
#define LOAD_8(p, some) ((value_8)load_f32((const void*)(p), some))
#define COMPRESS_8(to, from, some) compress_f32((void*)(to), (const void*)(from), some)
#endif
#define EXPAND_PRODUCTS(index, name)                                                   \
  for (; begin < end; begin += 8, list += 8, values += 8) {                            \
    const unsigned char here = end - begin >= 8 ? 255 : (1u << (end - begin)) - 1;     \
    *(index##_8*)list = load_##index((const void*)(coordinates + begin), here);        \
    *(value_8*)values = scale * LOAD_8(from + begin, here);                            \
  }
/* Elements [0, count) where `set` is 1 move together; whole vectors are stored. */
#define COMPRESS_LOOP(index)                                                           \
  for (int64_t r = 0; r < count; r += 8) {                                             \
    uint64_t bytes;                                                                    \
    memcpy(&bytes, set + r, 8);                                                        \
    const unsigned char kept = bytes * 0x0102040810204080u >> 56;                      \
    COMPRESS_8(values + n, sums + r, kept);                                            \
    compress_##index((void*)(list + n), (const void*)(to + r), kept);                  \
    n += __builtin_popcount(kept);                                                     \
  }
#else
#define EXPAND_PRODUCTS EXPAND_EACH
#define COMPRESS_LOOP(index)                                                           \
  for (int64_t r = 0; r < count; ++r) {                                                \
    values[n] = sums[r];                                                               \
    list[n] = to[r];                                                                   \
    n += set[r];                                                                       \
  }
#endif
/* Sorts terms by rank: the index of a term is the number of smaller coordinates, counted in vectors, without a branch;
   terms of one coordinate share an index, and leave as many free after it. */
#define DEFINE_TERMS_OF(name, suffix, type, largest, index, EXPAND_LOOP)                    \
  UNUSED static inline void expand_##name##_##suffix(                                       \
      type* restrict list, value* restrict values, const type* restrict coordinates,        \
      const value* restrict from, int64_t begin, int64_t end, value scale) {                \
    EXPAND_LOOP(index, name)                                                                \
  }                                                                                         \
  UNUSED static ALWAYS_INLINE int64_t compress_sixteens_##name##_##suffix(                  \
      type* restrict list, value* restrict values, int64_t count, int sixteens) {           \
    enum { each = VECTOR_BYTES / sizeof(type), most = MAX_TERMS / each };                   \
    typedef type some VECTOR_OF(type);                                                      \
    type rank[MAX_TERMS], to[MAX_TERMS];                                                    \
    value sums[MAX_TERMS];                                                                  \
    some x[most], smaller[most], all = {0};                                                 \
    const int vectors = 16 * sixteens / each;                                               \
    for (int v = 0; v < vectors; ++v) x[v] = *(const some*)(list + v * each);               \
    for (int v = 0; v < vectors; ++v) smaller[v] = all;                                     \
    for (int64_t m = 0; m < count; ++m) {                                                   \
      const type one = list[m];                                                             \
      for (int v = 0; v < vectors; ++v) smaller[v] -= x[v] > one;                           \
    }                                                                                       \
    for (int v = 0; v < vectors; ++v) all += *(some*)(rank + v * each) = smaller[v];        \
    int64_t ranks = -count * (16 * sixteens - count);                                       \
    for (int n = 0; n < each; ++n) ranks += all[n];                                         \
    if (2 * ranks == count * (count - 1)) {                                                 \
      for (int64_t m = 0; m < count; ++m) {                                                 \
        sums[rank[m]] = values[m];                                                          \
        to[rank[m]] = list[m];                                                              \
      }                                                                                     \
      memcpy(values, sums, 16 * sixteens * sizeof(value));                                  \
      memcpy(list, to, 16 * sixteens * sizeof(type));                                       \
      return count;                                                                         \
    }                                                                                       \
    unsigned char set[MAX_TERMS];                                                           \
    memset(sums, 0, 16 * sixteens * sizeof(value));                                         \
    memset(set, 0, 16 * sixteens);                                                          \
    for (int64_t m = 0; m < count; ++m) {                                                   \
      const int64_t at = rank[m];                                                           \
      FOLD_##name(sums[at], set[at], values[m]);                                            \
      to[at] = list[m];                                                                     \
      set[at] = 1;                                                                          \
    }                                                                                       \
    int64_t n = 0;                                                                          \
    COMPRESS_LOOP(index)                                                                    \
    return n;                                                                               \
  }                                                                                         \
  UNUSED static __attribute__((noinline)) int64_t compress_##name##_##suffix(               \
      type* restrict list, value* restrict values, int64_t count) {                         \
    for (int n = 0; n < 16; ++n) list[count + n] = largest;                                 \
    switch ((count + 15) / 16) {                                                            \
      case 0: return 0;                                                                     \
      case 1: return compress_sixteens_##name##_##suffix(list, values, count, 1);           \
      case 2: return compress_sixteens_##name##_##suffix(list, values, count, 2);           \
      case 3: return compress_sixteens_##name##_##suffix(list, values, count, 3);           \
      case 4: return compress_sixteens_##name##_##suffix(list, values, count, 4);           \
      case 5: return compress_sixteens_##name##_##suffix(list, values, count, 5);           \
      case 6: return compress_sixteens_##name##_##suffix(list, values, count, 6);           \
      case 7: return compress_sixteens_##name##_##suffix(list, values, count, 7);           \
      default: return compress_sixteens_##name##_##suffix(list, values, count, 8);          \
    }                                                                                       \
  }
#define VECTOR_OF(type) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias))
/* PRODUCT_name(a, b) and FOLD_name(sum, is_set, term) are its functions; sums begin with 0. */
#define DEFINE_TERMS(name, EXPAND_LOOP)                                                     \
  DEFINE_TERMS_OF(name, 32, int32_t, INT32_MAX, i32, EXPAND_LOOP)                           \
  DEFINE_TERMS_OF(name, 64, int64_t, INT64_MAX, i64, EXPAND_LOOP)
#define EXPAND(name, list, ...) _Generic((list), int32_t*: expand_##name##_32, int64_t*: expand_##name##_64)(list, __VA_ARGS__)
#define COMPRESS(name, list, values, count) \
  _Generic((list), int32_t*: compress_##name##_32, int64_t*: compress_##name##_64)(list, values, count)

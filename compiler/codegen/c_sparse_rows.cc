#include "compiler/codegen/c_prologue.h"

// C runtime for rows of sparse results: expand-sort-compress (Dalton, Olson, Bell: Optimizing sparse
// matrix-matrix multiplication for the GPU, ACM TOMS 41, 2015), and supernodes, rows of one structure added
// at once. Both work on vectors without branches that depend on coordinates; lists have room for the whole
// vectors that are stored past their ends.
namespace schaas::codegen {

/// Sorting by rank compares all pairs, in vectors, which suits the few terms of a list. The ranks add up to
/// count * (count - 1) / 2 exactly when all coordinates differ; then terms only move. Else terms of one
/// coordinate have one rank and are summed there, in their order. Padding with the largest index fills the
/// last vector; its contribution to the ranks is subtracted.
std::string_view term_declarations() {
  return R"(/* loop_ir::max_terms */
#define MAX_TERMS 128
#if defined(__AVX512VL__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_loadupd512_mask) && __has_builtin(__builtin_ia32_compressdf512_mask)
#define TERMS_BY_VECTORS
#endif
#endif
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
#define LOAD_8(p, some) _Generic((p), const double*: load_f64, const float*: load_f32)(p, some)
#define COMPRESS_8(to, from, some) _Generic((to), double*: compress_f64, float*: compress_f32)(to, from, some)
#define EXPAND_LOOP(index)                                                             \
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
#define EXPAND_LOOP(index)                                                             \
  for (; begin < end; ++begin) {                                                       \
    *list++ = coordinates[begin];                                                      \
    *values++ = scale * from[begin];                                                   \
  }
#define COMPRESS_LOOP(index)                                                           \
  for (int64_t r = 0; r < count; ++r) {                                                \
    values[n] = sums[r];                                                               \
    list[n] = to[r];                                                                   \
    n += set[r];                                                                       \
  }
#endif
/* Sorts terms by rank: the index of a term is the number of smaller coordinates, counted in vectors, without a branch;
   terms of one coordinate share an index, and leave as many free after it. */
#define DEFINE_TERMS(suffix, type, largest, index)                                          \
  UNUSED static inline void expand_##suffix(                                                \
      type* restrict list, value* restrict values, const type* restrict coordinates,        \
      const value* restrict from, int64_t begin, int64_t end, value scale) {                \
    EXPAND_LOOP(index)                                                                      \
  }                                                                                         \
  UNUSED static ALWAYS_INLINE int64_t compress_sixteens_##suffix(                           \
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
      sums[at] += values[m];                                                                \
      to[at] = list[m];                                                                     \
      set[at] = 1;                                                                          \
    }                                                                                       \
    int64_t n = 0;                                                                          \
    COMPRESS_LOOP(index)                                                                    \
    return n;                                                                               \
  }                                                                                         \
  UNUSED static __attribute__((noinline)) int64_t compress_##suffix(                        \
      type* restrict list, value* restrict values, int64_t count) {                         \
    for (int n = 0; n < 16; ++n) list[count + n] = largest;                                 \
    switch ((count + 15) / 16) {                                                            \
      case 0: return 0;                                                                     \
      case 1: return compress_sixteens_##suffix(list, values, count, 1);                    \
      case 2: return compress_sixteens_##suffix(list, values, count, 2);                    \
      case 3: return compress_sixteens_##suffix(list, values, count, 3);                    \
      case 4: return compress_sixteens_##suffix(list, values, count, 4);                    \
      case 5: return compress_sixteens_##suffix(list, values, count, 5);                    \
      case 6: return compress_sixteens_##suffix(list, values, count, 6);                    \
      case 7: return compress_sixteens_##suffix(list, values, count, 7);                    \
      default: return compress_sixteens_##suffix(list, values, count, 8);                   \
    }                                                                                       \
  }
#define VECTOR_OF(type) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(type)), may_alias))
DEFINE_TERMS(32, int32_t, INT32_MAX, i32)
DEFINE_TERMS(64, int64_t, INT64_MAX, i64)
#define EXPAND(list, ...) _Generic((list), int32_t*: expand_32, int64_t*: expand_64)(list, __VA_ARGS__)
#define COMPRESS(list, values, count) _Generic((list), int32_t*: compress_32, int64_t*: compress_64)(list, values, count)
)";
}

/// Rows are compared by length, first and last coordinate, then by whole vectors, the last of which may
/// overlap. Four adjacent coordinates are added as one vector. The number of rows is a constant in each copy
/// of the loop.
std::string_view supernode_declarations() {
  return R"(#define MAX_SUPERNODE 4
/* loop_ir::min_supernode_entries: number of coordinates compared at once. */
#define MIN_SUPERNODE_ENTRIES 16
#define DEFINE_ADD_SUPERNODE(suffix, type)                                                  \
  UNUSED static ALWAYS_INLINE int are_equal_##suffix(const type* a, const type* b, int64_t count) { \
    typedef type some __attribute__((vector_size(MIN_SUPERNODE_ENTRIES * sizeof(type)), aligned(sizeof(type)), may_alias)); \
    if (a[0] != b[0] || a[count - 1] != b[count - 1]) return 0;                             \
    const int64_t last = count - MIN_SUPERNODE_ENTRIES;                                     \
    some all = *(const some*)(a + last) ^ *(const some*)(b + last);                         \
    for (int64_t n = 0; n < last; n += MIN_SUPERNODE_ENTRIES) all |= *(const some*)(a + n) ^ *(const some*)(b + n); \
    type any = 0;                                                                           \
    for (int n = 0; n < MIN_SUPERNODE_ENTRIES; ++n) any |= all[n];                          \
    return any == 0;                                                                        \
  }                                                                                         \
  UNUSED static ALWAYS_INLINE void add_rows_##suffix(                                       \
      value* restrict sums, unsigned char* restrict set, const type* restrict coordinates,  \
      const value* const* row, const value* factor, int64_t count, int rows) {              \
    int64_t n = 0;                                                                          \
    for (; n + 4 <= count; n += 4) {                                                        \
      const int64_t first = coordinates[n];                                                 \
      if (coordinates[n + 3] - first == 3) {                                                \
        vec4 sum = *(const vec4*)(row[0] + n) * factor[0];                                  \
        for (int r = 1; r < rows; ++r) sum += *(const vec4*)(row[r] + n) * factor[r];       \
        *(vec4*)(sums + first) += sum;                                                      \
        memset(set + first, 255, 4);                                                        \
        continue;                                                                           \
      }                                                                                     \
      for (int64_t m = n; m < n + 4; ++m) {                                                 \
        value sum = row[0][m] * factor[0];                                                  \
        for (int r = 1; r < rows; ++r) sum += row[r][m] * factor[r];                        \
        sums[coordinates[m]] += sum;                                                        \
        set[coordinates[m]] = 255;                                                          \
      }                                                                                     \
    }                                                                                       \
    for (; n < count; ++n) {                                                                \
      value sum = row[0][n] * factor[0];                                                    \
      for (int r = 1; r < rows; ++r) sum += row[r][n] * factor[r];                          \
      sums[coordinates[n]] += sum;                                                          \
      set[coordinates[n]] = 255;                                                            \
    }                                                                                       \
  }                                                                                         \
  UNUSED static __attribute__((noinline)) int64_t add_supernode_##suffix(                   \
      value* restrict sums, unsigned char* restrict set, const type* restrict rows,         \
      const value* restrict factors, value scale, int64_t at, int64_t end,                  \
      const type* restrict positions, const type* restrict coordinates,                     \
      const value* restrict values) {                                                       \
    const value* row[MAX_SUPERNODE];                                                        \
    value factor[MAX_SUPERNODE];                                                            \
    const int64_t first = positions[rows[at]], count = positions[rows[at] + 1] - first;     \
    const int64_t most = end - at < MAX_SUPERNODE ? end - at : MAX_SUPERNODE;               \
    row[0] = values + first;                                                                \
    factor[0] = scale * factors[at];                                                        \
    int same = 1;                                                                           \
    for (; same < most; ++same) {                                                           \
      const int64_t begin = positions[rows[at + same]];                                     \
      if (positions[rows[at + same] + 1] - begin != count ||                                \
          !are_equal_##suffix(coordinates + first, coordinates + begin, count))             \
        break;                                                                              \
      row[same] = values + begin;                                                           \
      factor[same] = scale * factors[at + same];                                            \
    }                                                                                       \
    switch (same) {                                                                         \
      case 1: add_rows_##suffix(sums, set, coordinates + first, row, factor, count, 1); break; \
      case 2: add_rows_##suffix(sums, set, coordinates + first, row, factor, count, 2); break; \
      case 3: add_rows_##suffix(sums, set, coordinates + first, row, factor, count, 3); break; \
      default: add_rows_##suffix(sums, set, coordinates + first, row, factor, count, MAX_SUPERNODE); \
    }                                                                                       \
    return at + same - 1;                                                                   \
  }
DEFINE_ADD_SUPERNODE(32, int32_t)
DEFINE_ADD_SUPERNODE(64, int64_t)
#define ADD_SUPERNODE(sums, set, rows, ...) \
  _Generic((rows), const int32_t*: add_supernode_32, const int64_t*: add_supernode_64)(sums, set, rows, __VA_ARGS__)
)";
}

}  // namespace schaas::codegen

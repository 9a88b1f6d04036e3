/// Supernodes: rows of one structure, added at once, in vectors without branches that depend on coordinates.
/// Rows are compared by length, first and last coordinate, then by whole vectors, the last of which may
/// overlap. Four adjacent coordinates are added as one vector. The number of rows is a constant in each copy
/// of the loop.
#pragma once
#include "occupancy.h"
#define MAX_SUPERNODE 4
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

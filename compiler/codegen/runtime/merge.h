/// Merges. Selection has no branch: which list holds the smaller coordinate cannot be predicted. Both values
/// are there to be loaded. A conditional expression with a load becomes a jump. A list that is much longer
/// than another one of an intersection is skipped through by doubled steps. What the last step passed is
/// searched (Bentley, Yao, Information Processing Letters 5, 1976).
#pragma once
#include "vector.h"
UNUSED static ALWAYS_INLINE value value_selected(int64_t first, value a, value b) {
#if defined(VALUE_IS_COMPLEX)
  return first ? a : b;
#else
  value_word x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  const value_word mask = (value_word)0 - (value_word)first;
  x = (x & mask) | (y & ~mask);
  memcpy(&a, &x, sizeof a);
  return a;
#endif
}
/* The first position after `at` whose coordinate is not below the key; the one at `at` is. */
#define DEFINE_SKIP(name, type, search)                                                   \
  UNUSED static int64_t name(const type* a, int64_t at, int64_t end, int64_t key) {       \
    int64_t step = 1;                                                                     \
    for (; at + step < end && a[at + step] < key; step *= 2) at += step;                  \
    return search(a, at + 1, at + step < end ? at + step : end, key);                     \
  }
DEFINE_SKIP(skip_32, int32_t, search_32)
DEFINE_SKIP(skip_64, int64_t, search_64)
#define SKIP(a, at, end, key)                                                             \
  _Generic((a), const int32_t*: skip_32, int32_t*: skip_32, const int64_t*: skip_64, int64_t*: skip_64)(a, at, end, key)
/* One of two lists is so much longer than the other that skipping through it pays. */
#define ARE_SKEWED(a, b) ((a) > 16 * (b) || (b) > 16 * (a))

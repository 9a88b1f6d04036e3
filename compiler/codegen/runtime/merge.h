/// Selection without a branch, for merges: which list holds the smaller coordinate cannot be predicted. Both
/// values are there to be loaded. A conditional expression with a load becomes a jump.
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

/// Adjacent indices as values: a loop over few lanes that compilers make a constant.
#pragma once
#include "vector.h"
#define DEFINE_COUNTED(type)                                             \
  UNUSED static ALWAYS_INLINE type type##_counted(int64_t first) {       \
    type lanes = {0};                                                    \
    for (int n = 0; n < WIDTH(type); ++n) lanes[n] = (value)n;           \
    return lanes + (value)first;                                         \
  }
#if defined(VALUE_IS_COMPLEX)
#undef DEFINE_COUNTED
#define DEFINE_COUNTED(type)                                             \
  UNUSED static ALWAYS_INLINE type type##_counted(int64_t first) {       \
    type lanes = {0};                                                    \
    for (int n = 0; n < WIDTH(type); ++n) lanes[2 * n] = (value_part)(first + n); \
    return lanes;                                                        \
  }
#endif
DEFINE_COUNTED(vec)
DEFINE_COUNTED(vec32)
DEFINE_COUNTED(vec16)
#define value_counted(first) ((value)(first))

/// Masks of comparisons select lanes. Functions without a vector form are called for each lane.
#pragma once
#include "function.h"
#define SELECT_LANES(type, condition, then, otherwise) \
  ((type)(((condition) & (__typeof__(condition))(then)) | (~(condition) & (__typeof__(condition))(otherwise))))
#define TRUTH_OF_LANES(type, condition) SELECT_LANES(type, condition, one, zero)
#define HOLDS_IN_LANES(x) ((x) != zero)
DEFINE_FUNCTIONS(vec, SELECT_LANES, TRUTH_OF_LANES, HOLDS_IN_LANES)
DEFINE_FUNCTIONS(vec32, SELECT_LANES, TRUTH_OF_LANES, HOLDS_IN_LANES)
DEFINE_FUNCTIONS(vec16, SELECT_LANES, TRUTH_OF_LANES, HOLDS_IN_LANES)
DEFINE_FUNCTIONS(vec4, SELECT_LANES, TRUTH_OF_LANES, HOLDS_IN_LANES)
#if defined(VALUE_IS_INTEGER)
DEFINE_INTEGER_FUNCTIONS(vec, SELECT_LANES)
DEFINE_INTEGER_FUNCTIONS(vec32, SELECT_LANES)
DEFINE_INTEGER_FUNCTIONS(vec16, SELECT_LANES)
#else
#define DEFINE_EACH(type, name)                                           \
  UNUSED static inline type type##_##name(type x) {                       \
    for (int n = 0; n < WIDTH(type); ++n) x[n] = value_##name(x[n]);      \
    return x;                                                             \
  }
#define DEFINE_EACH_TYPE(name) DEFINE_EACH(vec, name) DEFINE_EACH(vec32, name) DEFINE_EACH(vec16, name) DEFINE_EACH(vec4, name)
DEFINE_EACH_TYPE(sqrt)
DEFINE_EACH_TYPE(log2)
DEFINE_EACH_TYPE(log10)
DEFINE_EACH_TYPE(tan)
DEFINE_EACH_TYPE(asin)
DEFINE_EACH_TYPE(acos)
DEFINE_EACH_TYPE(atan)
DEFINE_EACH_TYPE(sinh)
DEFINE_EACH_TYPE(cosh)
DEFINE_EACH_TYPE(erf)
DEFINE_EACH_TYPE(floor)
DEFINE_EACH_TYPE(ceil)
DEFINE_EACH_TYPE(round)
#define DEFINE_POWER(type)                                                    \
  DEFINE_POWERS(type, SELECT_LANES)                                           \
  UNUSED static inline type type##_power(type a, type b) {                    \
    for (int n = 0; n < WIDTH(type); ++n) a[n] = MATH(pow)(a[n], b[n]);       \
    return a;                                                                 \
  }
DEFINE_POWER(vec)
DEFINE_POWER(vec32)
DEFINE_POWER(vec16)
DEFINE_POWER(vec4)
#endif

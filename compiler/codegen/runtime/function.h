/// One macro defines each function for a value and, below, for registers, so that both have the same
/// results. Extremes keep the first argument unless the second is beyond it, also with NaN. sigmoid takes
/// exp of a negative argument, which never overflows.
#pragma once
#include "vector.h"
#include <math.h>
#define SELECT_ONE(type, condition, then, otherwise) ((condition) ? (then) : (otherwise))
#define DEFINE_ONE(type, name, result) \
  UNUSED static inline type type##_##name(type x) { const type zero = {0}, one = zero + (value)1; (void)one; return result; }
#define DEFINE_TWO(type, name, result) \
  UNUSED static inline type type##_##name(type a, type b) { const type zero = {0}, one = zero + (value)1; (void)zero, (void)one; return result; }
#define DEFINE_FUNCTIONS(type, SELECT, TRUTH, HOLDS)                                    \
  DEFINE_TWO(type, minimum, SELECT(type, b < a, b, a))                                  \
  DEFINE_TWO(type, maximum, SELECT(type, b > a, b, a))                                  \
  DEFINE_TWO(type, less, TRUTH(type, a < b))                                            \
  DEFINE_TWO(type, less_equal, TRUTH(type, a <= b))                                     \
  DEFINE_TWO(type, greater, TRUTH(type, a > b))                                         \
  DEFINE_TWO(type, greater_equal, TRUTH(type, a >= b))                                  \
  DEFINE_TWO(type, equal, TRUTH(type, a == b))                                          \
  DEFINE_TWO(type, not_equal, TRUTH(type, a != b))                                      \
  DEFINE_TWO(type, and, TRUTH(type, HOLDS(a) & HOLDS(b)))                               \
  DEFINE_TWO(type, or, TRUTH(type, HOLDS(a) | HOLDS(b)))                                \
  DEFINE_ONE(type, not, TRUTH(type, HOLDS(x) == 0))                                     \
  DEFINE_ONE(type, abs, SELECT(type, x <= zero, zero - x, x))                           \
  DEFINE_ONE(type, conj, x)                                                             \
  DEFINE_ONE(type, real, x)                                                             \
  DEFINE_ONE(type, imag, ((void)x, zero))                                               \
  DEFINE_ONE(type, relu, SELECT(type, x > zero, x, zero))                               \
  DEFINE_ONE(type, sign, SELECT(type, x > zero, one, SELECT(type, x < zero, -one, zero))) \
  UNUSED static inline type type##_where(type c, type a, type b) {                      \
    const type zero = {0};                                                              \
    return SELECT(type, c != zero, a, b);                                               \
  }
/* Without a branch, which would be mispredicted where truths alternate. Floating point numbers are bits for that: GCC
   turns their comparisons into branches. All bits but the sign tell whether one is 0. */
#if defined(VALUE_IS_INTEGER)
#define HOLDS_FOR_ONE(x) ((x) != zero)
#define TRUTH_OF_ONE(type, condition) ((type)(condition))
#else
UNUSED static inline int value_holds(value x) {
  value_word bits;
  memcpy(&bits, &x, sizeof bits);
  return (value_word)(bits << 1) != 0;
}
UNUSED static inline value value_truth(int condition) {
  value result = 1;
  value_word bits;
  memcpy(&bits, &result, sizeof bits);
  bits &= -(value_word)condition;
  memcpy(&result, &bits, sizeof bits);
  return result;
}
#define HOLDS_FOR_ONE(x) value_holds(x)
#define TRUTH_OF_ONE(type, condition) value_truth(condition)
#endif
DEFINE_FUNCTIONS(value, SELECT_ONE, TRUTH_OF_ONE, HOLDS_FOR_ONE)
#if defined(VALUE_IS_INTEGER)
/* Sums of semirings whose zero is infinite, for which the largest or the smallest integer stands. */
#define DEFINE_INTEGER_FUNCTIONS(type, SELECT)                                          \
  DEFINE_TWO(type, add_absorbing_largest, SELECT(type, (a == VALUE_LARGEST) | (b == VALUE_LARGEST), zero + VALUE_LARGEST, a + b)) \
  DEFINE_TWO(type, add_absorbing_smallest, SELECT(type, (a == VALUE_SMALLEST) | (b == VALUE_SMALLEST), zero + VALUE_SMALLEST, a + b)) \
  DEFINE_ONE(type, floor, x)                                                            \
  DEFINE_ONE(type, ceil, x)                                                             \
  DEFINE_ONE(type, round, x)
DEFINE_INTEGER_FUNCTIONS(value, SELECT_ONE)
#else
#define DEFINE_MATH(name, called) \
  UNUSED static inline value value_##name(value x) { return called(x); }
DEFINE_MATH(sqrt, MATH(sqrt))
DEFINE_MATH(log2, MATH(log2))
DEFINE_MATH(log10, MATH(log10))
DEFINE_MATH(tan, MATH(tan))
DEFINE_MATH(asin, MATH(asin))
DEFINE_MATH(acos, MATH(acos))
DEFINE_MATH(atan, MATH(atan))
DEFINE_MATH(sinh, MATH(sinh))
DEFINE_MATH(cosh, MATH(cosh))
DEFINE_MATH(erf, MATH(erf))
DEFINE_MATH(floor, MATH(floor))
DEFINE_MATH(ceil, MATH(ceil))
DEFINE_MATH(round, MATH(nearbyint))
#define DEFINE_SIGMOID(type, SELECT)                                                    \
  UNUSED static inline type type##_sigmoid(type x) {                                    \
    const type zero = {0}, one = zero + (value)1, e = type##_exp(-type##_abs(x));       \
    return SELECT(type, x < zero, e, one) / (one + e);                                  \
  }
#define DEFINE_LIBRARY_EXPONENTIALS                                                     \
  DEFINE_MATH(exp, MATH(exp)) DEFINE_MATH(expm1, MATH(expm1)) DEFINE_MATH(tanh, MATH(tanh)) \
  DEFINE_MATH(log, MATH(log)) DEFINE_MATH(log1p, MATH(log1p)) DEFINE_MATH(sin, MATH(sin)) DEFINE_MATH(cos, MATH(cos))
UNUSED static inline value value_power(value a, value b) { return MATH(pow)(a, b); }
/* Powers without a call of pow, which costs some 30 products. Roots of -0 and -infinity are those of pow, not of sqrt. */
#define DEFINE_POWERS(type, SELECT)                                                        \
  UNUSED static ALWAYS_INLINE type type##_square(type x) { return x * x; }                \
  UNUSED static ALWAYS_INLINE type type##_cube(type x) { return x * x * x; }              \
  UNUSED static ALWAYS_INLINE type type##_inverse(type x) { return (value)1 / x; }        \
  UNUSED static ALWAYS_INLINE type type##_root(type x) {                                  \
    const type zero = {0}, infinity = zero + (value)__builtin_inf();                      \
    return SELECT(type, x == -infinity, infinity, type##_sqrt(x + zero));                 \
  }                                                                                       \
  UNUSED static ALWAYS_INLINE type type##_inverse_root(type x) { return (value)1 / type##_root(x); }
DEFINE_POWERS(value, SELECT_ONE)
#endif

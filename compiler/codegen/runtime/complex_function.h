/// Functions of complex values and registers. A number is true where one of its parts is not zero. Where numbers
/// are ordered they are real: their real parts are compared.
#pragma once
#include "complex.h"
#include <math.h>
#define DEFINE_VALUE_TWO(name, result) \
  UNUSED static inline value value_##name(value a, value b) { return result; }
#define DEFINE_VALUE_ONE(name, result) \
  UNUSED static inline value value_##name(value x) { return result; }
DEFINE_VALUE_TWO(minimum, __real__ b < __real__ a ? b : a)
DEFINE_VALUE_TWO(maximum, __real__ b > __real__ a ? b : a)
DEFINE_VALUE_TWO(less, __real__ a < __real__ b)
DEFINE_VALUE_TWO(less_equal, __real__ a <= __real__ b)
DEFINE_VALUE_TWO(greater, __real__ a > __real__ b)
DEFINE_VALUE_TWO(greater_equal, __real__ a >= __real__ b)
DEFINE_VALUE_TWO(equal, a == b)
DEFINE_VALUE_TWO(not_equal, a != b)
DEFINE_VALUE_TWO(and, (a != 0) & (b != 0))
DEFINE_VALUE_TWO(or, (a != 0) | (b != 0))
DEFINE_VALUE_ONE(not, x == 0)
DEFINE_VALUE_ONE(conj, PARTS_OF(__real__ x, -__imag__ x))
DEFINE_VALUE_ONE(real, __real__ x)
DEFINE_VALUE_ONE(imag, __imag__ x)
/* The library's function where a square would be infinite or lose digits. It takes five times as long. */
#define HAS_ROOT(squares) \
  (((squares) >= (sizeof(value_part) == 8 ? 0x1p-960 : 0x1p-90)) & ((squares) <= (sizeof(value_part) == 8 ? 0x1p1000 : 0x1p120)))
UNUSED static inline value value_abs(value x) {
  const value_part a = __real__ x, b = __imag__ x, squares = a * a + b * b;
  return HAS_ROOT(squares) ? MATH(sqrt)(squares) : MATH(hypot)(a, b);
}
UNUSED static inline value value_where(value c, value a, value b) { return c != 0 ? a : b; }
/* Masks of the parts of pairs. */
#define TRUE_PAIRS(n, x) ((x != (__typeof__(x)){0}) | SWAP_##n(x != (__typeof__(x)){0}))
#define BOTH_PARTS(n, mask) ((mask) & SWAP_##n(mask))
#define SELECT_PAIRS(type, mask, then, otherwise) \
  ((type)(((mask) & (__typeof__(mask))(then)) | (~(mask) & (__typeof__(mask))(otherwise))))
#define DEFINE_PAIRS_TWO(type, name, mask, then, otherwise)                                   \
  UNUSED static inline type type##_##name(type a, type b) {                                   \
    const type zero = {0}, one = type##_of_value(1);                                          \
    (void)zero, (void)one;                                                                    \
    return SELECT_PAIRS(type, mask, then, otherwise);                                         \
  }
#define DEFINE_COMPLEX_FUNCTIONS(type, n)                                                     \
  DEFINE_PAIRS_TWO(type, minimum, REALS_##n(b < a), b, a)                                     \
  DEFINE_PAIRS_TWO(type, maximum, REALS_##n(b > a), b, a)                                     \
  DEFINE_PAIRS_TWO(type, less, REALS_##n(a < b), one, zero)                                   \
  DEFINE_PAIRS_TWO(type, less_equal, REALS_##n(a <= b), one, zero)                            \
  DEFINE_PAIRS_TWO(type, greater, REALS_##n(a > b), one, zero)                                \
  DEFINE_PAIRS_TWO(type, greater_equal, REALS_##n(a >= b), one, zero)                         \
  DEFINE_PAIRS_TWO(type, equal, BOTH_PARTS(n, a == b), one, zero)                             \
  DEFINE_PAIRS_TWO(type, not_equal, BOTH_PARTS(n, a == b), zero, one)                         \
  DEFINE_PAIRS_TWO(type, and, TRUE_PAIRS(n, a) & TRUE_PAIRS(n, b), one, zero)                 \
  DEFINE_PAIRS_TWO(type, or, TRUE_PAIRS(n, a) | TRUE_PAIRS(n, b), one, zero)                  \
  UNUSED static inline type type##_not(type x) {                                              \
    return SELECT_PAIRS(type, TRUE_PAIRS(n, x), (type){0}, type##_of_value(1));               \
  }                                                                                           \
  UNUSED static inline type type##_where(type c, type a, type b) {                            \
    return SELECT_PAIRS(type, TRUE_PAIRS(n, c), a, b);                                        \
  }                                                                                           \
  UNUSED static inline type type##_conj(type x) { return MIX_##n(x, -x); }                    \
  UNUSED static inline type type##_real(type x) { return MIX_##n(x, (type){0}); }             \
  UNUSED static inline type type##_imag(type x) { return MIX_##n(SWAP_##n(x), (type){0}); }   \
  UNUSED static inline type type##_abs(type x) {                                              \
    const type squares = x * x, sums = squares + SWAP_##n(squares);                           \
    type roots = sums;                                                                        \
    int have = 1;                                                                             \
    for (int part = 0; part < n; ++part) roots[part] = MATH(sqrt)(sums[part]), have &= HAS_ROOT(sums[part]); \
    if (__builtin_expect(have, 1)) return MIX_##n(roots, (type){0});                          \
    for (int lane = 0; lane < WIDTH(type); ++lane)                                            \
      SET_LANE(type, x, lane, value_abs(LANE(type, x, lane)));                                \
    return x;                                                                                 \
  }
DEFINE_COMPLEX_EACH(DEFINE_COMPLEX_FUNCTIONS)

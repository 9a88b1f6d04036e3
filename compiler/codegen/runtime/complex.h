/// Complex values and registers, which hold pairs of a real and an imaginary part. Products are those of numpy:
/// four products of parts, without the cases of C for infinite parts, so that no library is called. Quotients
/// scale by the larger part of the divisor (R. L. Smith, Algorithm 116, Communications of the ACM 5, 1962).
/// A product with one value takes two multiplications and a swap of a register; added to a sum, the multiplications
/// are fused with the additions.
#pragma once
#include "vector.h"
#define PARTS_OF(real, imaginary) __builtin_complex((value_part)(real), (value_part)(imaginary))
UNUSED static ALWAYS_INLINE value value_multiply(value a, value b) {
  return PARTS_OF(__real__ a * __real__ b - __imag__ a * __imag__ b, __real__ a * __imag__ b + __imag__ a * __real__ b);
}
UNUSED static inline value value_divide(value a, value b) {
  const value_part x = __real__ b, y = __imag__ b;
  if (x == 0 && y == 0) return PARTS_OF(__real__ a / x, __imag__ a / x);
  if ((x < 0 ? -x : x) >= (y < 0 ? -y : y)) {
    const value_part ratio = y / x, scale = x + y * ratio;
    return PARTS_OF((__real__ a + __imag__ a * ratio) / scale, (__imag__ a - __real__ a * ratio) / scale);
  }
  const value_part ratio = x / y, scale = x * ratio + y;
  return PARTS_OF((__real__ a * ratio + __imag__ a) / scale, (__imag__ a * ratio - __real__ a) / scale);
}
/* Swapped pairs, each real or imaginary part twice, and the real parts of one register with the imaginary ones of another. */
#define SHUFFLE __builtin_shufflevector
#define SWAP_2(x) SHUFFLE(x, x, 1, 0)
#define REALS_2(x) SHUFFLE(x, x, 0, 0)
#define IMAGS_2(x) SHUFFLE(x, x, 1, 1)
#define MIX_2(x, y) SHUFFLE(x, y, 0, 3)
#define SWAP_4(x) SHUFFLE(x, x, 1, 0, 3, 2)
#define REALS_4(x) SHUFFLE(x, x, 0, 0, 2, 2)
#define IMAGS_4(x) SHUFFLE(x, x, 1, 1, 3, 3)
#define MIX_4(x, y) SHUFFLE(x, y, 0, 5, 2, 7)
#define SWAP_8(x) SHUFFLE(x, x, 1, 0, 3, 2, 5, 4, 7, 6)
#define REALS_8(x) SHUFFLE(x, x, 0, 0, 2, 2, 4, 4, 6, 6)
#define IMAGS_8(x) SHUFFLE(x, x, 1, 1, 3, 3, 5, 5, 7, 7)
#define MIX_8(x, y) SHUFFLE(x, y, 0, 9, 2, 11, 4, 13, 6, 15)
#define SWAP_16(x) SHUFFLE(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define REALS_16(x) SHUFFLE(x, x, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14)
#define IMAGS_16(x) SHUFFLE(x, x, 1, 1, 3, 3, 5, 5, 7, 7, 9, 9, 11, 11, 13, 13, 15, 15)
#define MIX_16(x, y) SHUFFLE(x, y, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31)
#define DEFINE_COMPLEX(type, n)                                                               \
  UNUSED static ALWAYS_INLINE type type##_of_value(value x) {                                 \
    return MIX_##n(__real__ x - (type){0}, __imag__ x - (type){0});                           \
  }                                                                                           \
  UNUSED static ALWAYS_INLINE type type##_scale(value x, type b) {                            \
    const type y = __imag__ x - (type){0}, turned = MIX_##n(-y, y);                           \
    return __real__ x * b + turned * SWAP_##n(b);                                             \
  }                                                                                           \
  UNUSED static ALWAYS_INLINE type type##_multiply(type a, type b) {                          \
    const type y = IMAGS_##n(a), turned = MIX_##n(-y, y);                                     \
    return REALS_##n(a) * b + turned * SWAP_##n(b);                                           \
  }                                                                                           \
  UNUSED static ALWAYS_INLINE type type##_add_scaled(type sum, value x, type b) {             \
    const type y = __imag__ x - (type){0}, turned = MIX_##n(-y, y);                           \
    sum += __real__ x * b;                                                                    \
    return sum + turned * SWAP_##n(b);                                                        \
  }                                                                                           \
  UNUSED static ALWAYS_INLINE type type##_add_product(type sum, type a, type b) {             \
    const type y = IMAGS_##n(a), turned = MIX_##n(-y, y);                                     \
    sum += REALS_##n(a) * b;                                                                  \
    return sum + turned * SWAP_##n(b);                                                        \
  }                                                                                           \
  UNUSED static inline type type##_divide(type a, type b) {                                   \
    for (int lane = 0; lane < WIDTH(type); ++lane)                                            \
      SET_LANE(type, a, lane, value_divide(LANE(type, a, lane), LANE(type, b, lane)));        \
    return a;                                                                                 \
  }
#if VALUE_BYTES == 16
#define DEFINE_COMPLEX_16(DEFINE, type) DEFINE(type, 2)
#define DEFINE_COMPLEX_32(DEFINE, type) DEFINE(type, 4)
#define DEFINE_COMPLEX_64(DEFINE, type) DEFINE(type, 8)
#else
#define DEFINE_COMPLEX_16(DEFINE, type) DEFINE(type, 4)
#define DEFINE_COMPLEX_32(DEFINE, type) DEFINE(type, 8)
#define DEFINE_COMPLEX_64(DEFINE, type) DEFINE(type, 16)
#endif
#if VECTOR_BYTES == 64
#define DEFINE_COMPLEX_EACH(DEFINE) DEFINE_COMPLEX_16(DEFINE, vec16) DEFINE_COMPLEX_32(DEFINE, vec32) DEFINE_COMPLEX_64(DEFINE, vec)
#elif VECTOR_BYTES == 32
#define DEFINE_COMPLEX_EACH(DEFINE) DEFINE_COMPLEX_16(DEFINE, vec16) DEFINE_COMPLEX_32(DEFINE, vec32) DEFINE_COMPLEX_32(DEFINE, vec)
#else
#define DEFINE_COMPLEX_EACH(DEFINE) DEFINE_COMPLEX_16(DEFINE, vec16) DEFINE_COMPLEX_32(DEFINE, vec32) DEFINE_COMPLEX_16(DEFINE, vec)
#endif
DEFINE_COMPLEX_EACH(DEFINE_COMPLEX)

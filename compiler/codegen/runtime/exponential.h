/// exp, tanh, sigmoid and log; compiler/codegen/runtime.h describes the algorithm. ROUNDER is 1.5 times a power of two at which the last
/// digit counts ones. Adding and subtracting it rounds, and the sum's low bits are the integer. log 2 is
/// split in two (Cody and Waite), so that n * LN2_HIGH is exact. exp scales by two powers of two, since 2^n
/// alone may overflow or be subnormal where the result is not. Arguments are clamped where results are 0,
/// infinite or 1. COUNTER plus a whole number below its last digit has that number in its low bits.
#pragma once
#include "vector_function.h"
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FOR_TYPE(f64, f32) ((value)(sizeof(value) == 8 ? (f64) : (f32)))
/* Rounds to an integer what it is added to; the integer is in the low bits of the sum. */
#define ROUNDER FOR_TYPE(0x1.8p52, 0x1.8p23)
#define LOG2_E ((value)0x1.71547652b82fep0)
#define LN2_HIGH FOR_TYPE(0x1.62e42fee00000p-1, 0x1.63p-1)
#define LN2_LOW FOR_TYPE(0x1.a39ef35793c76p-33, -0x1.bd0105c610ca8p-13)
#define COUNTER FOR_TYPE(0x1p52, 0x1p23)
#define ROOT_OF_HALF FOR_TYPE(0x1.6a09e667f3bcdp-1, 0x1.6a09e6p-1)
#define SUBNORMAL_SHIFT 54
#define EXPONENT_BIAS (sizeof(value) == 8 ? 1023 : 127)
#define EXPONENT_SHIFT (sizeof(value) == 8 ? 52 : 23)
typedef value_word vec_word VECTOR_TYPE(VECTOR_BYTES);
typedef value_word vec32_word VECTOR_TYPE(32);
typedef value_word vec16_word VECTOR_TYPE(16);
typedef value_word vec4_word VECTOR_TYPE(4 * sizeof(value));
#define DEFINE_EXPONENTIALS(type, SELECT)                                                             \
  UNUSED static ALWAYS_INLINE type##_word type##_bits_of(type x) {                                    \
    type##_word bits;                                                                                 \
    memcpy(&bits, &x, sizeof bits);                                                                   \
    return bits;                                                                                      \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_of_bits(type##_word bits) {                                 \
    type x;                                                                                           \
    memcpy(&x, &bits, sizeof x);                                                                      \
    return x;                                                                                         \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_two_to(type n) {                                            \
    return type##_of_bits((type##_bits_of(n + ROUNDER) + EXPONENT_BIAS) << EXPONENT_SHIFT);           \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_beyond(type x, type n) { /* exp(x - n * log 2) - 1 */       \
    const type r = (x - n * LN2_HIGH) - n * LN2_LOW;                                                  \
    type p = r * FOR_TYPE(1 / 6227020800., 0) + FOR_TYPE(1 / 479001600., 0);                          \
    if (sizeof(value) == 8) {                                                                         \
      p = p * r + (value)(1 / 39916800.);                                                             \
      p = p * r + (value)(1 / 3628800.);                                                              \
      p = p * r + (value)(1 / 362880.);                                                               \
      p = p * r + (value)(1 / 40320.);                                                                \
    }                                                                                                 \
    p = p * r + (value)(1 / 5040.);                                                                   \
    p = p * r + (value)(1 / 720.);                                                                    \
    p = p * r + (value)(1 / 120.);                                                                    \
    p = p * r + (value)(1 / 24.);                                                                     \
    p = p * r + (value)(1 / 6.);                                                                      \
    p = p * r + (value)0.5;                                                                           \
    return p * (r * r) + r;                                                                           \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_exp(type x) {                                               \
    const type zero = {0}, least = zero + FOR_TYPE(-746, -104), most = zero + FOR_TYPE(710, 89);      \
    x = SELECT(type, x < least, least, x);                                                            \
    x = SELECT(type, x > most, most, x);                                                              \
    const type n = (x * LOG2_E + ROUNDER) - ROUNDER, half = (n * (value)0.5 + ROUNDER) - ROUNDER;     \
    return (type##_beyond(x, n) + (value)1) * type##_two_to(half) * type##_two_to(n - half);          \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_tanh(type x) {                                              \
    const type zero = {0}, most = zero + FOR_TYPE(44, 20);                                            \
    const type##_word all = type##_bits_of(x), sign = all & (value_word)1 << (8 * sizeof(value) - 1); \
    type y = type##_of_bits(all ^ sign) * (value)2; /* tanh |x| = (exp y - 1) / (exp y + 1) */        \
    y = SELECT(type, y > most, most, y);                                                              \
    const type n = (y * LOG2_E + ROUNDER) - ROUNDER, s = type##_two_to(n);                            \
    const type e = type##_beyond(y, n) * s + (s - (value)1);                                          \
    return type##_of_bits(type##_bits_of(e / (e + (value)2)) | sign);                                 \
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_log(type x) {                                               \
    const type zero = {0}, one = zero + (value)1, normal = zero + FOR_TYPE(0x1p-1022, 0x1p-126);      \
    const type##_word bias = type##_bits_of(one), root = type##_bits_of(zero + ROOT_OF_HALF);         \
    const type##_word all = type##_bits_of(SELECT(type, x < normal, x * (value)(1ull << SUBNORMAL_SHIFT), x)); \
    const type##_word biased = (all - root + bias) >> EXPONENT_SHIFT;                                 \
    const type counted = type##_of_bits(biased | type##_bits_of(zero + COUNTER)) - (COUNTER + EXPONENT_BIAS); \
    const type n = counted - SELECT(type, x < normal, zero + (value)SUBNORMAL_SHIFT, zero);           \
    const type f = type##_of_bits(all - (biased << EXPONENT_SHIFT) + bias) - one;                     \
    const type s = f / (f + (value)2), z = s * s, half = f * f * (value)0.5; /* log((1 + s) / (1 - s)) */ \
    type p = z * FOR_TYPE(0x1.2f112df3e5244p-3, 0) + FOR_TYPE(0x1.39a09d078c69fp-3, 0);               \
    if (sizeof(value) == 8) {                                                                         \
      p = p * z + (value)0x1.7466496cb03dep-3;                                                        \
      p = p * z + (value)0x1.c71c51d8e78afp-3;                                                        \
      p = p * z + (value)0x1.2492494229359p-2;                                                        \
      p = p * z + (value)0x1.999999997fa04p-2;                                                        \
      p = p * z + (value)0x1.5555555555593p-1;                                                        \
    } else {                                                                                          \
      p = p * z + (value)0x1.f13c4cp-3;                                                               \
      p = p * z + (value)0x1.23d3dcp-2;                                                               \
      p = p * z + (value)0x1.999c26p-2;                                                               \
      p = p * z + (value)0x1.555554p-1;                                                               \
    }                                                                                                 \
    type y = n * LN2_HIGH - ((half - (s * (half + p * z) + n * LN2_LOW)) - f);                        \
    y = SELECT(type, x == zero, zero - (value)__builtin_inf(), y);                                    \
    y = SELECT(type, x == (value)__builtin_inf(), x, y);                                              \
    return SELECT(type, x >= zero, y, zero + (value)__builtin_nan(""));                               \
  }
DEFINE_EXPONENTIALS(value, SELECT_ONE)
DEFINE_EXPONENTIALS(vec, SELECT_LANES)
DEFINE_EXPONENTIALS(vec32, SELECT_LANES)
DEFINE_EXPONENTIALS(vec16, SELECT_LANES)
DEFINE_EXPONENTIALS(vec4, SELECT_LANES)
#else
DEFINE_LIBRARY_EXPONENTIALS
DEFINE_EACH_TYPE(exp)
DEFINE_EACH_TYPE(tanh)
DEFINE_EACH_TYPE(log)
#endif
DEFINE_SIGMOID(value, SELECT_ONE)
DEFINE_SIGMOID(vec, SELECT_LANES)
DEFINE_SIGMOID(vec32, SELECT_LANES)
DEFINE_SIGMOID(vec16, SELECT_LANES)
DEFINE_SIGMOID(vec4, SELECT_LANES)

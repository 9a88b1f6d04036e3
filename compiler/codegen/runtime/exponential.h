/// exp, expm1, tanh, sigmoid, log, log1p, sin and cos; compiler/codegen/runtime.h describes the algorithms. ROUNDER is 1.5 times a power of two at which the last
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
#define TWO_OVER_PI ((value)0x1.45f306dc9c883p-1)
#define HALF_PI_HIGH FOR_TYPE(0x1.921fb54400000p+0, 0x1.9200000000000p+0)
#define HALF_PI_MIDDLE FOR_TYPE(0x1.0b4611a600000p-34, 0x1.fb40000000000p-12)
#define HALF_PI_LOW FOR_TYPE(0x1.3198a2e037073p-69, 0x1.4442d20000000p-24)
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
  UNUSED static ALWAYS_INLINE type type##_expm1(type x) {                                             \
    const type zero = {0}, least = zero + FOR_TYPE(-44, -20), most = zero + FOR_TYPE(710, 89);        \
    x = SELECT(type, x < least, least, x);                                                            \
    x = SELECT(type, x > most, most, x);                                                              \
    const type n = (x * LOG2_E + ROUNDER) - ROUNDER, half = (n * (value)0.5 + ROUNDER) - ROUNDER;     \
    const type shift = SELECT(type, n > zero + (value)64, zero + (value)64, n);                       \
    return (type##_beyond(x, n) + ((value)1 - type##_two_to(-shift))) * type##_two_to(half) * type##_two_to(n - half); \
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
  }                                                                                                   \
  UNUSED static ALWAYS_INLINE type type##_log1p(type x) {                                             \
    const type sum = x + (value)1, y = type##_log(sum), kept = sum - (value)1;                        \
    return SELECT(type, kept == x, y, y + (x - kept) / sum);                                          \
  }
#define DEFINE_CIRCULAR(type, SELECT)                                                                 \
  UNUSED static ALWAYS_INLINE type type##_circular(type x, value_word quarters) { /* sin(x + quarters * pi / 2) */\
    const type n = (x * TWO_OVER_PI + ROUNDER) - ROUNDER;                                             \
    const type##_word quarter = type##_bits_of(n + ROUNDER) + quarters;                               \
    const type r = ((x - n * HALF_PI_HIGH) - n * HALF_PI_MIDDLE) - n * HALF_PI_LOW, z = r * r;        \
    type s = z * FOR_TYPE(0x1.5d93a5acfd57cp-33, 0) + FOR_TYPE(-0x1.ae5e68a2b9cebp-26, 0);            \
    if (sizeof(value) == 8) {                                                                         \
      s = s * z + (value)0x1.71de357b1fe7dp-19;                                                       \
    }                                                                                                 \
    s = s * z + FOR_TYPE(-0x1.a01a019c161d5p-13, -0x1.9943f20000000p-13);                             \
    s = s * z + FOR_TYPE(0x1.111111110f8a6p-7, 0x1.11073c0000000p-7);                                 \
    s = s * z + FOR_TYPE(-0x1.5555555555549p-3, -0x1.5555460000000p-3);                               \
    type c = z * FOR_TYPE(-0x1.8fae9be8838d4p-37, 0) + FOR_TYPE(0x1.1ee9ebdb4b1c4p-29, 0);            \
    if (sizeof(value) == 8) {                                                                         \
      c = c * z + (value)-0x1.27e4f809c52adp-22;                                                      \
    }                                                                                                 \
    c = c * z + FOR_TYPE(0x1.a01a019cb1590p-16, 0x1.99eb9c0000000p-16);                               \
    c = c * z + FOR_TYPE(-0x1.6c16c16c15177p-10, -0x1.6c0c340000000p-10);                             \
    c = c * z + FOR_TYPE(0x1.555555555554cp-5, 0x1.55554a0000000p-5);                                 \
    s = s * (z * r) + r;                                                                              \
    const type half = z * (value)0.5, most = (value)1 - half;                                         \
    c = most + ((((value)1 - most) - half) + c * (z * z));                                            \
    const type y = SELECT(type, (quarter & 1) != 0, c, s);                                            \
    return type##_of_bits(type##_bits_of(y) ^ (quarter & 2) << (8 * sizeof(value) - 2));              \
  }
DEFINE_EXPONENTIALS(value, SELECT_ONE)
DEFINE_EXPONENTIALS(vec, SELECT_LANES)
DEFINE_EXPONENTIALS(vec32, SELECT_LANES)
DEFINE_EXPONENTIALS(vec16, SELECT_LANES)
DEFINE_EXPONENTIALS(vec4, SELECT_LANES)
DEFINE_CIRCULAR(value, SELECT_ONE)
DEFINE_CIRCULAR(vec, SELECT_LANES)
DEFINE_CIRCULAR(vec32, SELECT_LANES)
DEFINE_CIRCULAR(vec16, SELECT_LANES)
DEFINE_CIRCULAR(vec4, SELECT_LANES)
/* Far from 0 the quarters are not known so: the library's function, which reduces by more digits of pi. */
#define NEAR_0 FOR_TYPE(0x1p20, 0x1p13)
UNUSED static inline value value_sin(value x) { return value_abs(x) <= NEAR_0 ? value_circular(x, 0) : MATH(sin)(x); }
UNUSED static inline value value_cos(value x) { return value_abs(x) <= NEAR_0 ? value_circular(x, 1) : MATH(cos)(x); }
#define DEFINE_CIRCULAR_OF_LANES(type, TOTAL, name, quarters)                                         \
  UNUSED static inline type type##_##name(type x) {                                                   \
    const type zero = {0}, one = zero + (value)1;                                                     \
    type y = type##_circular(x, quarters);                                                            \
    if (__builtin_expect(TOTAL(SELECT_LANES(type, type##_abs(x) <= NEAR_0, zero, one)) != 0, 0)) {    \
      for (int n = 0; n < WIDTH(type); ++n) y[n] = value_##name(x[n]);                                \
    }                                                                                                 \
    return y;                                                                                         \
  }
#define DEFINE_CIRCULAR_OF_TYPES(name, quarters)                                                      \
  DEFINE_CIRCULAR_OF_LANES(vec, SUM, name, quarters)                                                  \
  DEFINE_CIRCULAR_OF_LANES(vec32, sum32, name, quarters)                                              \
  DEFINE_CIRCULAR_OF_LANES(vec16, sum16, name, quarters)                                              \
  DEFINE_CIRCULAR_OF_LANES(vec4, sum4, name, quarters)
DEFINE_CIRCULAR_OF_TYPES(sin, 0)
DEFINE_CIRCULAR_OF_TYPES(cos, 1)
#else
DEFINE_LIBRARY_EXPONENTIALS
DEFINE_EACH_TYPE(exp)
DEFINE_EACH_TYPE(expm1)
DEFINE_EACH_TYPE(tanh)
DEFINE_EACH_TYPE(log)
DEFINE_EACH_TYPE(log1p)
DEFINE_EACH_TYPE(sin)
DEFINE_EACH_TYPE(cos)
#endif
DEFINE_SIGMOID(value, SELECT_ONE)
DEFINE_SIGMOID(vec, SELECT_LANES)
DEFINE_SIGMOID(vec32, SELECT_LANES)
DEFINE_SIGMOID(vec16, SELECT_LANES)
DEFINE_SIGMOID(vec4, SELECT_LANES)

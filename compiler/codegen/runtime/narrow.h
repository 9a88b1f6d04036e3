/// Operands in narrower types than that of the arithmetic, loaded as values and as registers of values:
/// value_of_bf16(p), vec_of_i8(p). A kernel uses DEFINE_STORED for types that C has, after this text.
#pragma once
#include "vector.h"
#define NARROW_VECTOR(type, register) __attribute__((vector_size(sizeof(register) / sizeof(value) * sizeof(type)), aligned(sizeof(type)), may_alias))
#define DEFINE_WIDENED(name, type, register)                                                      \
  typedef type name##_##register NARROW_VECTOR(type, register);                                   \
  UNUSED static ALWAYS_INLINE register register##_of_##name(const type* p) {                      \
    return __builtin_convertvector(*(const name##_##register*)p, register);                       \
  }
#define DEFINE_STORED(name, type)                                                                 \
  UNUSED static ALWAYS_INLINE value value_of_##name(const type* p) { return (value)*p; }          \
  DEFINE_WIDENED(name, type, vec4)                                                                \
  DEFINE_WIDENED(name, type, vec16)                                                               \
  DEFINE_WIDENED(name, type, vec32)                                                               \
  DEFINE_WIDENED(name, type, vec)
/* The bits of as many floats as a register has values. */
#define DEFINE_WORDS(register)                                                                    \
  typedef uint16_t halves_##register NARROW_VECTOR(uint16_t, register);                           \
  typedef uint32_t words_##register NARROW_VECTOR(uint32_t, register);                            \
  typedef float floats_##register NARROW_VECTOR(float, register);
DEFINE_WORDS(value)
DEFINE_WORDS(vec4)
DEFINE_WORDS(vec16)
DEFINE_WORDS(vec32)
DEFINE_WORDS(vec)
#define WORDS(register, p) __builtin_convertvector(*(const halves_##register*)(p), words_##register)
#define DEFINE_FLOATS(name, register, floats)                                                     \
  UNUSED static ALWAYS_INLINE register register##_of_##name(const uint16_t* p) {                  \
    return __builtin_convertvector(floats, register);                                             \
  }
/* bf16: the upper halves of floats. GCC 12 converts eight by halves; the instruction does it at once. */
#if defined(__AVX2__) && !defined(__clang__) && VALUE_BYTES == 4
typedef short short_8 __attribute__((vector_size(16), aligned(2), may_alias));
#define EIGHT_WORDS(p) (words_vec32)__builtin_ia32_pmovzxwd256(*(const short_8*)(p))
#else
#define EIGHT_WORDS(p) WORDS(vec32, p)
#endif
UNUSED static ALWAYS_INLINE value value_of_bf16(const uint16_t* p) {
  const uint32_t bits = (uint32_t)*p << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
DEFINE_FLOATS(bf16, vec4, (floats_vec4)(WORDS(vec4, p) << 16))
DEFINE_FLOATS(bf16, vec16, (floats_vec16)(WORDS(vec16, p) << 16))
DEFINE_FLOATS(bf16, vec32, (floats_vec32)(EIGHT_WORDS(p) << 16))
#if VECTOR_BYTES == 32
#define vec_of_bf16 vec32_of_bf16
#else
DEFINE_FLOATS(bf16, vec, (floats_vec)(WORDS(vec, p) << 16))
#endif
/* f16: IEEE 754's binary16. A product moves the exponent and makes small numbers normal; numbers without end keep
   its highest bits. */
#define DEFINE_HALVES(register)                                                                   \
  UNUSED static ALWAYS_INLINE floats_##register register##_from_halves(words_##register bits) {   \
    const floats_##register moved = (floats_##register)((bits & 0x7fff) << 13) * 0x1p112f;        \
    const words_##register ends = (words_##register)((bits & 0x7c00) == 0x7c00) & 0x7f800000u;    \
    return (floats_##register)((words_##register)moved | ends | (bits & 0x8000) << 16);           \
  }
DEFINE_HALVES(vec4)
DEFINE_HALVES(vec16)
DEFINE_HALVES(vec32)
DEFINE_HALVES(vec)
#if defined(__F16C__)
typedef short half_8 __attribute__((vector_size(16), aligned(2), may_alias));
UNUSED static ALWAYS_INLINE value value_of_f16(const uint16_t* p) {
  return __builtin_ia32_vcvtph2ps((half_8){(short)*p})[0];
}
#else
UNUSED static ALWAYS_INLINE value value_of_f16(const uint16_t* p) { return vec4_from_halves((words_vec4){*p})[0]; }
#endif
#if defined(__F16C__) && VALUE_BYTES == 4
typedef long long halves_of_words __attribute__((vector_size(16)));
/* Through one word: GCC makes a half-written register by way of memory, which a load of the whole waits for. */
UNUSED static ALWAYS_INLINE half_8 four_halves(const uint16_t* p) {
  long long four;
  memcpy(&four, p, 8);
  return (half_8)(halves_of_words){four, 0};
}
DEFINE_FLOATS(f16, vec16, (floats_vec16)__builtin_ia32_vcvtph2ps(four_halves(p)))
DEFINE_FLOATS(f16, vec32, (floats_vec32)__builtin_ia32_vcvtph2ps256(*(const half_8*)p))
#define vec4_of_f16 vec16_of_f16
#else
DEFINE_FLOATS(f16, vec4, vec4_from_halves(WORDS(vec4, p)))
DEFINE_FLOATS(f16, vec16, vec16_from_halves(WORDS(vec16, p)))
DEFINE_FLOATS(f16, vec32, vec32_from_halves(WORDS(vec32, p)))
#endif
#if VECTOR_BYTES == 64 && defined(__F16C__) && VALUE_BYTES == 4
typedef short half_16 __attribute__((vector_size(32), aligned(2), may_alias));
typedef float floats_16 __attribute__((vector_size(64)));
DEFINE_FLOATS(f16, vec, (floats_vec)__builtin_ia32_vcvtph2ps512_mask(*(const half_16*)p, (floats_16){0}, (unsigned short)-1, 4))
#elif VECTOR_BYTES == 32
#define vec_of_f16 vec32_of_f16
#else
DEFINE_FLOATS(f16, vec, vec_from_halves(WORDS(vec, p)))
#endif

/// Operands in narrower types than that of complex arithmetic: numbers without an imaginary part, and pairs of
/// narrower parts. DEFINE_STORED is for types that C has.
#pragma once
#include "vector.h"
#define DEFINE_STORED_PAIRS(register, name, type)                                             \
  UNUSED static ALWAYS_INLINE register register##_of_##name(const type* p) {                  \
    register x = {0};                                                                         \
    for (int lane = 0; lane < WIDTH(register); ++lane) SET_LANE(register, x, lane, value_of_##name(p + lane)); \
    return x;                                                                                 \
  }
#define DEFINE_STORED_REGISTERS(name, type)                                                   \
  DEFINE_STORED_PAIRS(vec16, name, type)                                                      \
  DEFINE_STORED_PAIRS(vec32, name, type)                                                      \
  DEFINE_STORED_PAIRS(vec, name, type)
#define DEFINE_STORED(name, type)                                                             \
  UNUSED static ALWAYS_INLINE value value_of_##name(const type* p) { return (value)*p; }      \
  DEFINE_STORED_REGISTERS(name, type)
UNUSED static ALWAYS_INLINE value value_of_bf16(const uint16_t* p) {
  const uint32_t bits = (uint32_t)*p << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
UNUSED static ALWAYS_INLINE value value_of_f16(const uint16_t* p) {
  const uint32_t size = (*p & 0x7fffu) << 13, ends = (*p & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0;
  float x;
  memcpy(&x, &size, sizeof x);
  x *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits |= ends | (*p & 0x8000u) << 16;
  memcpy(&x, &bits, sizeof x);
  return x;
}
DEFINE_STORED_REGISTERS(bf16, uint16_t)
DEFINE_STORED_REGISTERS(f16, uint16_t)

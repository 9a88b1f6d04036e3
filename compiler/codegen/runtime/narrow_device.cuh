/// Operands of 16 bits that are computed with as floats: one, and adjacent ones at an aligned address, with one
/// load. bf16 are the upper halves of floats, f16 IEEE 754's binary16.
#pragma once
#include "device.cuh"
__device__ static inline value float_of_bf16(uint32_t bits) { return __uint_as_float(bits << 16); }
__device__ static inline value float_of_f16(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  value x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)bits));
  return x;
#else
  const float moved = __uint_as_float((bits & 0x7fffu) << 13) * 0x1p112f;
  const uint32_t ends = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0;
  return __uint_as_float((uint32_t)__float_as_int(moved) | ends | (bits & 0x8000u) << 16);
#endif
}
template <int count>
struct alignas(4 * count) adjacent_words {
  uint32_t at[count];
};
#define DEFINE_STORED(name)                                                                                   \
  __device__ static inline value value_of_##name(const uint16_t* p) { return float_of_##name(*p); }           \
  __device__ static inline void widen_pair_##name(uint32_t pair, value& a, value& b) {                        \
    a = float_of_##name(pair & 0xffffu), b = float_of_##name(pair >> 16);                                     \
  }                                                                                                           \
  __device__ static inline void load_adjacent_##name(const uint16_t* from, value& a, value& b) {              \
    widen_pair_##name(*(const uint32_t*)from, a, b);                                                          \
  }                                                                                                           \
  __device__ static inline void load_adjacent_##name(const uint16_t* from, value& a, value& b, value& c, value& d) { \
    const adjacent_words<2> x = *(const adjacent_words<2>*)from;                                              \
    widen_pair_##name(x.at[0], a, b), widen_pair_##name(x.at[1], c, d);                                       \
  }
DEFINE_STORED(bf16)
DEFINE_STORED(f16)

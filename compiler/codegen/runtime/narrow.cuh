/// Operands of bf16, the upper halves of floats: one, and adjacent ones at an aligned address, with one instruction.
#pragma once
#include "device.cuh"
typedef uint16_t stored;
__device__ static inline value value_widened(const stored* p) { return __uint_as_float((uint32_t)*p << 16); }
template <int count>
struct alignas(4 * count) adjacent_words {
  uint32_t at[count];
};
__device__ static inline void widen_pair(uint32_t pair, value& a, value& b) {
  a = __uint_as_float(pair << 16), b = __uint_as_float(pair & 0xffff0000u);
}
__device__ static inline void load_adjacent(const stored* from, value& a, value& b) {
  widen_pair(*(const uint32_t*)from, a, b);
}
__device__ static inline void load_adjacent(const stored* from, value& a, value& b, value& c, value& d) {
  const adjacent_words<2> x = *(const adjacent_words<2>*)from;
  widen_pair(x.at[0], a, b), widen_pair(x.at[1], c, d);
}

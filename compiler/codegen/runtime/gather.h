/// Eight elements of an array at adjacent coordinates, by one instruction, and what a row has of eight adjacent values. A row of up to
/// eight entries takes one step, without a branch on their number, and nothing behind its end is read.
/// EIGHT is the register of eight values: `vec`, or `vec32` of four bytes each. Needs AVX-512; the flag that chooses this code is not
/// set elsewhere.
#pragma once
#include "vector.h"
#if VECTOR_BYTES == 64 && !defined(VALUE_IS_COMPLEX)
typedef double gather_double __attribute__((vector_size(64)));
typedef float gather_float __attribute__((vector_size(32)));
typedef int gather_int __attribute__((vector_size(32)));
typedef long long gather_long __attribute__((vector_size(64)));
#define FIRST_BITS(count) ((unsigned char)((1u << (count)) - 1))
#if VALUE_BYTES == 8
#define EIGHT vec
#define FIRST_EIGHT(p, count) \
  ((vec)__builtin_ia32_loadupd512_mask((const void*)(p), (gather_double){0}, FIRST_BITS(count)))
#define GATHER_32(p, at, bits) __builtin_ia32_gathersiv8df((gather_double){0}, (p), (at), (bits), 8)
#define GATHER_64(p, at, bits) __builtin_ia32_gatherdiv8df((gather_double){0}, (p), (at), (bits), 8)
#else
#define EIGHT vec32
#define FIRST_EIGHT(p, count) \
  ((vec32)__builtin_ia32_loadups256_mask((const void*)(p), (gather_float){0}, FIRST_BITS(count)))
#define GATHER_32(p, at, bits) __builtin_ia32_gather3siv8sf((gather_float){0}, (p), (at), (bits), 4)
#define GATHER_64(p, at, bits) __builtin_ia32_gatherdiv16sf((gather_float){0}, (p), (at), (bits), 4)
#endif
UNUSED static ALWAYS_INLINE EIGHT gather_first_32(const value* p, const int32_t* at, int64_t count) {
  const gather_int list = (gather_int)__builtin_ia32_loaddqusi256_mask((const void*)at, (gather_int){0}, FIRST_BITS(count));
  return (EIGHT)GATHER_32((const void*)p, list, FIRST_BITS(count));
}
UNUSED static ALWAYS_INLINE EIGHT gather_first_64(const value* p, const int64_t* at, int64_t count) {
  const gather_long list = (gather_long)__builtin_ia32_loaddqudi512_mask((const void*)at, (gather_long){0}, FIRST_BITS(count));
  return (EIGHT)GATHER_64((const void*)p, list, FIRST_BITS(count));
}
/* The elements of `p` at the first `count` of eight adjacent coordinates, at most eight, then zeros. */
#define GATHER_FIRST(p, at, count) \
  _Generic((at), const int32_t*: gather_first_32, const int64_t*: gather_first_64)((p), (at), (count))
#endif

/// Ends of the runs of equal coordinates in a long ascending list. The entries that begin a run are found for 64 at a time, as bits. A loop to
/// the end of each run is mispredicted where runs differ in length. Needs AVX-512.
#pragma once
#include "vector.h"
#if VECTOR_BYTES == 64
typedef struct {
  int64_t base, next; /* the 64 entries that are known, and the first one behind them */
  uint64_t begins;    /* known entries that differ from the one before them, and were not passed by yet */
} known_runs;
typedef int run_32 __attribute__((vector_size(64)));
typedef long long run_64 __attribute__((vector_size(64)));
typedef int some_run_32 __attribute__((vector_size(64), aligned(4), may_alias));
typedef long long some_run_64 __attribute__((vector_size(64), aligned(8), may_alias));
UNUSED static ALWAYS_INLINE uint64_t run_differs_32(const int32_t* a) {
  const run_32 here = *(const some_run_32*)a, before = *(const some_run_32*)(a - 1);
  return (unsigned short)__builtin_ia32_cmpd512_mask(here, before, 4, (unsigned short)-1);
}
UNUSED static ALWAYS_INLINE uint64_t run_differs_64(const int64_t* a) {
  const run_64 here = *(const some_run_64*)a, before = *(const some_run_64*)(a - 1);
  return (unsigned char)__builtin_ia32_cmpq512_mask(here, before, 4, (unsigned char)-1);
}
/* The bits are made out of line, so that the known ones stay in registers. */
#define DEFINE_RUN_END(bits)                                                                             \
  UNUSED static NOINLINE uint64_t run_begins_##bits(const int##bits##_t* a, int64_t count) {             \
    uint64_t begins = 0;                                                                                 \
    int64_t n = 0;                                                                                       \
    for (; n + 512 / bits <= count; n += 512 / bits) begins |= run_differs_##bits(a + n) << n;           \
    for (; n < count; ++n) begins |= (uint64_t)(a[n] != a[n - 1]) << n;                                  \
    return begins;                                                                                       \
  }                                                                                                      \
  UNUSED static ALWAYS_INLINE int64_t run_end_##bits(const int##bits##_t* a, int64_t end, known_runs* runs) { \
    while (runs->begins == 0) {                                                                          \
      runs->base = runs->next;                                                                           \
      if (runs->base >= end) return end;                                                                 \
      runs->begins = run_begins_##bits(a + runs->base, end - runs->base < 64 ? end - runs->base : 64);   \
      runs->next = runs->base + 64;                                                                      \
    }                                                                                                    \
    const int64_t at = runs->base + __builtin_ctzll(runs->begins);                                       \
    runs->begins &= runs->begins - 1;                                                                    \
    return at;                                                                                           \
  }
DEFINE_RUN_END(32)
DEFINE_RUN_END(64)
/* Where the run of equal coordinates ends that begins where the last one ended. */
#define RUN_END(a, end, runs) _Generic((a), const int32_t*: run_end_32, const int64_t*: run_end_64)(a, end, runs)
#endif

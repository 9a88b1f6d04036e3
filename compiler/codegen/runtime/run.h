/// Ends of the runs of equal coordinates in a long ascending list. The entries that begin a run are found for 64 at a time, as bits. A loop to
/// the end of each run is mispredicted where runs differ in length. Needs AVX2 or AVX-512.
#pragma once
#include "vector.h"
#if defined(__AVX2__)
#define RUNS_BY_BITS 1
#else
#define RUNS_BY_BITS 0
#endif
#if RUNS_BY_BITS
typedef struct {
  int64_t base, next; /* the 64 entries that are known, and the first one behind them */
  uint64_t begins;    /* known entries that differ from the one before them, and were not passed by yet */
} known_runs;
typedef int run_32 __attribute__((vector_size(VECTOR_BYTES)));
typedef long long run_64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int some_run_32 __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef long long some_run_64 __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
#if VECTOR_BYTES == 64
#define RUN_DIFFERS_32(here, before) (unsigned short)__builtin_ia32_cmpd512_mask(here, before, 4, (unsigned short)-1)
#define RUN_DIFFERS_64(here, before) (unsigned char)__builtin_ia32_cmpq512_mask(here, before, 4, (unsigned char)-1)
#else
typedef float run_signs_32 __attribute__((vector_size(32)));
typedef double run_signs_64 __attribute__((vector_size(32)));
#define RUN_DIFFERS_32(here, before) (unsigned)__builtin_ia32_movmskps256((run_signs_32)((here) != (before)))
#define RUN_DIFFERS_64(here, before) (unsigned)__builtin_ia32_movmskpd256((run_signs_64)((here) != (before)))
#endif
UNUSED static ALWAYS_INLINE uint64_t run_differs_32(const int32_t* a) {
  const run_32 here = *(const some_run_32*)a, before = *(const some_run_32*)(a - 1);
  return RUN_DIFFERS_32(here, before);
}
UNUSED static ALWAYS_INLINE uint64_t run_differs_64(const int64_t* a) {
  const run_64 here = *(const some_run_64*)a, before = *(const some_run_64*)(a - 1);
  return RUN_DIFFERS_64(here, before);
}
/* The bits are made out of line, so that the known ones stay in registers. */
#define DEFINE_RUN_END(bits)                                                                             \
  UNUSED static NOINLINE uint64_t run_begins_##bits(const int##bits##_t* a, int64_t count) {             \
    uint64_t begins = 0;                                                                                 \
    int64_t n = 0;                                                                                       \
    enum { each = 8 * VECTOR_BYTES / bits };                                                             \
    for (; n + each <= count; n += each) begins |= run_differs_##bits(a + n) << n;                       \
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

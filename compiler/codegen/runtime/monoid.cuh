/// Only sums of values have an atomic instruction; other monoids repeat compare-and-swap. It compares bits:
/// NaN equals nothing, itself included, and would repeat forever.
#pragma once
#include "device.cuh"
#define ONE_STEP(folded)                                                    \
  value seen = *(volatile value*)at;                                                    \
  for (;;) {                                                                            \
    const value next = (folded);                                                        \
    const value found = exchange(at, seen, next);                                       \
    if (same_bits(found, seen)) return;                                                 \
    seen = found;                                                                       \
  }
__device__ static inline float exchange(float* at, float seen, float next) {
  return __int_as_float(atomicCAS((int*)at, __float_as_int(seen), __float_as_int(next)));
}
__device__ static inline double exchange(double* at, double seen, double next) {
  return __longlong_as_double((long long)atomicCAS((unsigned long long*)at, (unsigned long long)__double_as_longlong(seen),
                                                   (unsigned long long)__double_as_longlong(next)));
}
__device__ static inline bool same_bits(float a, float b) { return __float_as_int(a) == __float_as_int(b); }
__device__ static inline bool same_bits(double a, double b) {
  return __double_as_longlong(a) == __double_as_longlong(b);
}
struct monoid_sum {
  __device__ static value identity() { return (value)0; }
  __device__ static value fold(value a, value b) { return a + b; }
  __device__ static void atomic(value* at, value x) { atomicAdd(at, x); }
};
#define DEFINE_MONOID(name, start, folded)                               \
  struct monoid_##name {                                                 \
    __device__ static value identity() { return (value)(start); }        \
    __device__ static value fold(value seen, value x) { return folded; } \
    __device__ static void atomic(value* at, value x) { ONE_STEP(folded) } \
  };
DEFINE_MONOID(prod, 1, seen * x)
DEFINE_MONOID(min, __builtin_inf(), x < seen ? x : seen)
DEFINE_MONOID(max, -__builtin_inf(), x > seen ? x : seen)
DEFINE_MONOID(or, 0, (value)((seen != 0) | (x != 0)))
DEFINE_MONOID(and, 1, (value)((seen != 0) & (x != 0)))
#define DEFINE_ATOMIC(name) \
  __device__ static inline void atomic_##name(value* at, value x) { monoid_##name::atomic(at, x); }
DEFINE_ATOMIC(sum)
DEFINE_ATOMIC(prod)
DEFINE_ATOMIC(min)
DEFINE_ATOMIC(max)
DEFINE_ATOMIC(or)
DEFINE_ATOMIC(and)

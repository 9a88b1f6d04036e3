/// Compare-and-swap loops on the bits of values. Relaxed order suffices: barriers between phases order what
/// others read.
#pragma once
#include "vector.h"
#define DEFINE_ATOMIC(name, folded)                                        \
  UNUSED static inline void atomic_##name(value* at, value x) {                        \
    value seen, next;                                                                  \
    __atomic_load(at, &seen, __ATOMIC_RELAXED);                                        \
    do {                                                                               \
      next = (folded);                                                                 \
    } while (!__atomic_compare_exchange(at, &seen, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
  }
#if defined(VALUE_IS_COMPLEX)
/* Parts are added one by one: no other thread needs both at once. */
UNUSED static inline void atomic_sum_of_part(value_part* at, value_part x) {
  value_part seen, next;
  __atomic_load(at, &seen, __ATOMIC_RELAXED);
  do {
    next = seen + x;
  } while (!__atomic_compare_exchange(at, &seen, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
UNUSED static inline void atomic_sum(value* at, value x) {
  atomic_sum_of_part((value_part*)at, __real__ x);
  atomic_sum_of_part((value_part*)at + 1, __imag__ x);
}
#else
DEFINE_ATOMIC(sum, seen + x)
DEFINE_ATOMIC(prod, seen * x)
DEFINE_ATOMIC(min, x < seen ? x : seen)
DEFINE_ATOMIC(max, x > seen ? x : seen)
DEFINE_ATOMIC(or, (value)((seen != 0) | (x != 0)))
DEFINE_ATOMIC(and, (value)((seen != 0) & (x != 0)))
#endif

/// Open addressing with linear probing and Fibonacci hashing: the factor is 2^64 over the golden ratio.
/// Tables have a power of two of slots, at most half of them occupied, so each search ends. Slots of hashed
/// levels are free below 0, those of tables that kernels fill at 0.
#pragma once
#include "vector.h"
#define DEFINE_FIND(name, type)                                             \
  UNUSED static inline int64_t name(const type* a, int64_t low, int64_t high, int64_t key) { \
    if (low == high) return -1;                                                         \
    const uint64_t mask = (uint64_t)(high - low) - 1;                                   \
    uint64_t at = (((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;        \
    for (;; at = (at + 1) & mask) {                                                     \
      const int64_t here = a[low + (int64_t)at];                                        \
      if (here == key) return low + (int64_t)at;                                        \
      if (here < 0) return -1;                                                          \
    }                                                                                   \
  }
DEFINE_FIND(find_32, int32_t)
DEFINE_FIND(find_64, int64_t)
#define FIND(a, low, high, key) \
  _Generic((a), const int32_t*: find_32, const int64_t*: find_64)(a, low, high, key)
/* Finds the slot in a table that is being filled: free slots are 0, others keys, above 0. */
#define DEFINE_SLOT(name, type)                                                         \
  UNUSED static inline int64_t name(const type* a, int64_t low, int64_t high, int64_t key) { \
    const uint64_t mask = (uint64_t)(high - low) - 1;                                   \
    uint64_t at = (((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;        \
    for (;; at = (at + 1) & mask) {                                                     \
      const int64_t here = a[low + (int64_t)at];                                        \
      if (here == key || here == 0) return low + (int64_t)at;                           \
    }                                                                                   \
  }
DEFINE_SLOT(slot_32, int32_t)
DEFINE_SLOT(slot_64, int64_t)
#define SLOT(a, low, high, key) \
  _Generic((a), int32_t*: slot_32, int64_t*: slot_64)(a, low, high, key)

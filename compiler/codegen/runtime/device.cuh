/// Searches as in vector.h and find.h, the ordered one by four parts, aligned loads and stores of adjacent values, and a quotient that divides in 32 bits
/// where it can.
#pragma once
/* Steps wait for memory one after the other: four parts have three loads under way at once. From a known place on,
   mostly a near one, the range is found by steps that double. */
template <class Index>
__device__ static inline int64_t SEARCH(const Index* a, int64_t low, int64_t high, int64_t key) {
  if (low > 0) {
    for (int64_t step = 1; low < high; step *= 2) {
      const int64_t next = low + step - 1 < high - 1 ? low + step - 1 : high - 1;
      if (a[next] >= key) {
        high = next;
        break;
      }
      low = next + 1;
    }
  }
  while (high - low > 3) {
    const int64_t part = (high - low) / 4;
    const Index x = a[low + part], y = a[low + 2 * part], z = a[low + 3 * part];
    if (y < key) {
      low += z < key ? 3 * part + 1 : 2 * part + 1;
      high = z < key ? high : low + part - 1;
    } else {
      high = x < key ? low + 2 * part : low + part;
      low = x < key ? low + part + 1 : low;
    }
  }
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (a[middle] < key) low = middle + 1; else high = middle;
  }
  return low;
}
template <class Index>
__device__ static inline int64_t MATCH(const Index* a, int64_t low, int64_t high, int64_t key) {
  const int64_t at = SEARCH(a, low, high, key);
  return at < high && a[at] == key ? at : -1;
}
/* Returns how many rows end among the first `both` rows and entries, where a row's end comes after its entries. */
template <class Index>
__device__ static inline int64_t rows_merged(const Index* positions, int64_t rows, int64_t entries, int64_t both) {
  int64_t low = both > entries ? both - entries : 0, high = both < rows ? both : rows;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (positions[middle + 1] < both - middle) low = middle + 1; else high = middle;
  }
  return low;
}
template <class Index>
__device__ static inline int64_t FIND(const Index* a, int64_t low, int64_t high, int64_t key) {
  if (low == high) return -1;
  const uint64_t mask = (uint64_t)(high - low) - 1;
  for (uint64_t at = (((uint64_t)key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;; at = (at + 1) & mask) {
    const int64_t here = a[low + (int64_t)at];
    if (here == key) return low + (int64_t)at;
    if (here < 0) return -1;
  }
}
/* Adjacent values at an aligned address, with one instruction. */
template <int count>
struct alignas(count * sizeof(value)) adjacent_values {
  value at[count];
};
__device__ static inline void load_adjacent(const value* from, value& a, value& b) {
  const adjacent_values<2> x = *(const adjacent_values<2>*)from;
  a = x.at[0], b = x.at[1];
}
__device__ static inline void load_adjacent(const value* from, value& a, value& b, value& c, value& d) {
  const adjacent_values<4> x = *(const adjacent_values<4>*)from;
  a = x.at[0], b = x.at[1], c = x.at[2], d = x.at[3];
}
template <int count>
__device__ static inline void store_adjacent(value* to, const adjacent_values<count>& x) {
#if defined(__CUDA_ARCH__)
  /* Of a struct the compiler would store each value by itself. */
  if constexpr (sizeof(value) == 4 && count == 4) {
    __stwb((float4*)to, make_float4(x.at[0], x.at[1], x.at[2], x.at[3]));
    return;
  }
  if constexpr (count == 2) {
    if constexpr (sizeof(value) == 8) __stwb((double2*)to, make_double2(x.at[0], x.at[1]));
    else __stwb((float2*)to, make_float2(x.at[0], x.at[1]));
    return;
  }
#endif
  *(adjacent_values<count>*)to = x;
}
/* Numbers that are not negative; long division is slow and nearly always for short ones. */
__device__ static inline int64_t quotient(int64_t a, int64_t b) {
  return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

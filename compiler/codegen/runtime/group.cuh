/// Groups are aligned parts of a warp. They fold by shuffles under a mask of their own, so that groups of one
/// warp may be at different statements. Deferred updates and the segment reduction follow Sgap (section 5.3):
/// adjacent threads that hold values of one element fold them before a single atomic step.
///
/// A fold takes log2(width) shuffles. In the segment reduction a thread folds only values of later threads
/// with the same element. A ballot of each element's first thread tells where these end.
#pragma once
#include "monoid.cuh"
/* Returns the mask of this thread's group in its warp. */
template <int width>
__device__ static inline unsigned group_mask() {
  return width == 32 ? 0xffffffffu : ((1u << (width % 32)) - 1u) << (threadIdx.x % 32 / width * width);
}
/* Folds the values of the group into its first thread. */
template <class Monoid, int width>
__device__ static inline value folded_group(value x) {
  for (int offset = width / 2; offset > 0; offset /= 2)
    x = Monoid::fold(x, __shfl_down_sync(group_mask<width>(), x, offset, width));
  return x;
}
/* Folds the values of the group, for each of its threads. */
template <class Monoid, int width>
__device__ static inline value folded_for_all(value x) {
  for (int offset = width / 2; offset > 0; offset /= 2)
    x = Monoid::fold(x, __shfl_xor_sync(group_mask<width>(), x, offset, width));
  return x;
}
template <class Monoid>
struct is_sum { static constexpr bool yes = false; };
template <>
struct is_sum<monoid_sum> { static constexpr bool yes = true; };
/* Fold adjacent values at an aligned address into memory. */
template <class Monoid, int count>
__device__ static inline void fold_adjacent(value* to, const adjacent_values<count>& x) {
  adjacent_values<count> all = *(const adjacent_values<count>*)to;
  for (int n = 0; n < count; ++n) all.at[n] = Monoid::fold(all.at[n], x.at[n]);
  store_adjacent(to, all);
}
template <class Monoid, int count>
__device__ static inline void atomic_adjacent(value* to, const adjacent_values<count>& x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  /* Sums of floats have one instruction for four. */
  if constexpr (is_sum<Monoid>::yes && sizeof(value) == 4 && count == 4) {
    atomicAdd((float4*)to, make_float4(x.at[0], x.at[1], x.at[2], x.at[3]));
    return;
  }
#endif
  for (int n = 0; n < count; ++n) Monoid::atomic(to + n, x.at[n]);
}
/* Write what the group folds, of one element or of adjacent ones. */
template <class Monoid, int width, class... Values>
__device__ static inline void atomic_group(value* array, int64_t index, Values... x) {
  const adjacent_values<sizeof...(x)> all = {{folded_group<Monoid, width>(x)...}};
  if (threadIdx.x % width == 0) atomic_adjacent<Monoid>(array + index, all);
}
template <class Monoid, int width, class... Values>
__device__ static inline void store_group(value* array, int64_t index, Values... x) {
  const adjacent_values<sizeof...(x)> all = {{folded_group<Monoid, width>(x)...}};
  if (threadIdx.x % width == 0) store_adjacent(array + index, all);
}
template <class Monoid, int width, class... Values>
__device__ static inline void fold_group(value* array, int64_t index, Values... x) {
  const adjacent_values<sizeof...(x)> all = {{folded_group<Monoid, width>(x)...}};
  if (threadIdx.x % width == 0) fold_adjacent<Monoid>(array + index, all);
}
/* Folds the values of adjacent threads with the same element into the first of them, which writes. Index -1: none. */
template <class Monoid, int width>
__device__ static inline void segment_group(value* array, int64_t index, value x) {
  const unsigned mask = group_mask<width>();
  const int lane = (int)(threadIdx.x % width), first = (int)(threadIdx.x % 32) - lane;
  const long long before = __shfl_up_sync(mask, (long long)index, 1, width);
  const bool writes = lane == 0 || before != (long long)index;
  const unsigned writers = (__ballot_sync(mask, writes) & mask) >> first;
  const unsigned later = lane == 31 ? 0u : writers >> (lane + 1);
  const int end = later != 0 ? lane + __ffs((int)later) : width;
  for (int offset = 1; offset < width; offset *= 2) {
    const value other = __shfl_down_sync(mask, x, offset, width);
    if (lane + offset < end) x = Monoid::fold(x, other);
  }
  if (writes && index >= 0) Monoid::atomic(array + index, x);
}
/* Copies `count` elements into memory that the `threads` of a group share; all of them arrive. */
template <int threads, class Element>
__device__ static inline void stage_entries(Element* to, const Element* from, int64_t count) {
  for (int n = (int)(threadIdx.x % threads); n < (int)count; n += threads) to[n] = from[n];
}
template <class Monoid>
struct deferred_update {
  value* const array;
  int64_t index;
  value x;
  __device__ explicit deferred_update(value* target) : array(target), index(-1), x(Monoid::identity()) {}
  __device__ void defer(int64_t at, value next) {
    if (at == index) {
      x = Monoid::fold(x, next);
      return;
    }
    if (index >= 0) Monoid::atomic(array + index, x);
    index = at;
    x = next;
  }
  template <int width>
  __device__ void flush() const {
    segment_group<Monoid, width>(array, index, x);
  }
};

#include "compiler/codegen/cuda_prologue.h"

// Device functions of kernels for GPUs. Groups are aligned parts of a warp. They fold by shuffles under a
// mask of their own, so that groups of one warp may be at different statements. Deferred updates and the
// segment reduction follow Sgap (section 5.3): adjacent threads that hold values of one element fold them
// before a single atomic step.
namespace schaas::codegen {

std::string_view gpu_abi_declarations() {
  return R"(typedef struct schaas_gpu_phase {
  const char* function;
  int32_t block;
  int32_t parameter_bytes;
  int64_t (*prepare)(const schaas_tensor* const* args, void* const* shared, void* workspace,
                     int64_t workspace_threads, void* parameters);
  int32_t (*launch)(const void* parameters, int64_t blocks, void* stream);
} schaas_gpu_phase;

typedef struct schaas_gpu_descriptor {
  int32_t abi_version;
  int32_t argument_count;
  int32_t phase_count;
  int32_t shared_count;
  const schaas_gpu_phase* phases;
  int64_t (*shared_bytes)(const schaas_tensor* const* args, int32_t which);
  int64_t (*workspace_bytes)(const schaas_tensor* const* args);
  const char* key;
  const char* problem;
  const char* schedule;
  double result_fill;
  int32_t writes_all;
  int32_t copy_count;
  const schaas_copy* copies;
  int32_t result_entries_of;
  int32_t fixed_count;
  const schaas_fixed_extent* fixed;
} schaas_gpu_descriptor;

typedef struct schaas_gpu_image {
  const char* architecture;
  const void* bytes;
  int64_t size;
} schaas_gpu_image;
)";
}

/// Searches as in c_prologue.cc, aligned loads of adjacent values, and a quotient that divides in 32 bits
/// where it can.
std::string_view device_declarations() {
  return R"(template <class Index>
__device__ static inline int64_t SEARCH(const Index* a, int64_t low, int64_t high, int64_t key) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (a[middle] < key) low = middle + 1; else high = middle;
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
/* Numbers that are not negative; long division is slow and nearly always for short ones. */
__device__ static inline int64_t quotient(int64_t a, int64_t b) {
  return ((a | b) >> 32) == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}
)";
}

/// Only sums of values have an atomic instruction; other monoids repeat compare-and-swap. It compares bits:
/// NaN equals nothing, itself included, and would repeat forever.
std::string_view monoid_declarations() {
  return R"(#define ONE_STEP(folded)                                                    \
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
)";
}

/// A fold takes log2(width) shuffles. In the segment reduction a thread folds only values of later threads
/// with the same element. A ballot of each element's first thread tells where these end.
std::string_view group_declarations() {
  return R"(/* Returns the mask of this thread's group in its warp. */
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
template <class Monoid, int width>
__device__ static inline void atomic_group(value* array, int64_t index, value x) {
  x = folded_group<Monoid, width>(x);
  if (threadIdx.x % width == 0) Monoid::atomic(array + index, x);
}
template <class Monoid, int width>
__device__ static inline void store_group(value* array, int64_t index, value x) {
  x = folded_group<Monoid, width>(x);
  if (threadIdx.x % width == 0) array[index] = x;
}
template <class Monoid, int width>
__device__ static inline void fold_group(value* array, int64_t index, value x) {
  x = folded_group<Monoid, width>(x);
  if (threadIdx.x % width == 0) array[index] = Monoid::fold(array[index], x);
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
)";
}

}  // namespace schaas::codegen

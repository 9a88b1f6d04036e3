// The yardstick's kernels as an expert writes them by hand: an extent known to the compiler, rows in vector
// registers, several ways each, of which the fastest counts. What no generator need know is used: 32-bit
// positions, results preallocated. Compiled for one extent, -DCOLUMNS=15, and one type of values,
// -DREAL=float (double without), with the widest vectors that the processor has; the rest of a row is loaded
// and stored by a mask.
//
//     hand_kernels KERNEL EXTENTS RUNS SECONDS (POS CRD)... VALUES DENSE... RESULT
//
// KERNEL: SpMM, SDDMM, TTM, TTMd, MTTKRP, K1, K3, K4, K6, K7, K7d or K8, as in yardstick.py, whose files it
// reads (int32, int32, values; dense operands in row-major order). Prints the seconds of each run of the
// fastest way and writes the result's values; the name of that way goes to stderr.
#include "yardstick_files.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#ifndef REAL
#define REAL double
#endif
#ifdef __AVX512F__
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif

namespace {

using real = REAL;
constexpr int W = VECTOR_BYTES / static_cast<int>(sizeof(real));
// Registers of accumulators: the others hold what is added to them.
constexpr int accumulators = VECTOR_BYTES == 64 ? 24 : 12;

using vec = real __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));
using vec8 = real __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));
using vec4 = real __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

inline vec at(const real* p) { return *reinterpret_cast<const vec*>(p); }
inline void put(real* p, vec v) { *reinterpret_cast<vec*>(p) = v; }

// The first COUNT elements of a register; the others are zero.
template <int COUNT>
inline vec first(const real* p) {
#ifdef __AVX512F__
  constexpr unsigned mask = (1U << COUNT) - 1;
  if constexpr (sizeof(real) == 8)
    return reinterpret_cast<vec>(_mm512_maskz_loadu_pd(mask, p));
  else
    return reinterpret_cast<vec>(_mm512_maskz_loadu_ps(mask, p));
#else
  if constexpr (sizeof(real) == 8) {
    const __m256i mask = _mm256_set_epi64x(COUNT > 3 ? -1 : 0, COUNT > 2 ? -1 : 0, COUNT > 1 ? -1 : 0, -1);
    return reinterpret_cast<vec>(_mm256_maskload_pd(reinterpret_cast<const double*>(p), mask));
  } else {
    const __m256i mask =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(COUNT), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return reinterpret_cast<vec>(_mm256_maskload_ps(reinterpret_cast<const float*>(p), mask));
  }
#endif
}
template <int COUNT>
inline void put_first(real* p, vec v) {
#ifdef __AVX512F__
  constexpr unsigned mask = (1U << COUNT) - 1;
  if constexpr (sizeof(real) == 8)
    _mm512_mask_storeu_pd(p, mask, reinterpret_cast<__m512d>(v));
  else
    _mm512_mask_storeu_ps(p, mask, reinterpret_cast<__m512>(v));
#else
  if constexpr (sizeof(real) == 8) {
    const __m256i mask = _mm256_set_epi64x(COUNT > 3 ? -1 : 0, COUNT > 2 ? -1 : 0, COUNT > 1 ? -1 : 0, -1);
    _mm256_maskstore_pd(reinterpret_cast<double*>(p), mask, reinterpret_cast<__m256d>(v));
  } else {
    const __m256i mask =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(COUNT), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm256_maskstore_ps(reinterpret_cast<float*>(p), mask, reinterpret_cast<__m256>(v));
  }
#endif
}

// A row of N values, the last register of it in part.
template <int N>
struct Row {
  static constexpr int full = N / W, rest = N % W, registers = full + (rest > 0);
  vec v[registers];
  void clear() {
    for (auto& x : v) x = vec{};
  }
  // v[n] = f(v[n], register n of the row at p).
  template <class F>
  void with(const real* p, F f) {
    for (int n = 0; n < full; ++n) v[n] = f(v[n], at(p + n * W));
    if constexpr (rest > 0) v[full] = f(v[full], first<rest>(p + full * W));
  }
  void load(const real* p) {
    with(p, [](vec, vec x) { return x; });
  }
  void add(real w, const real* p) {
    with(p, [w](vec sum, vec x) { return sum + w * x; });
  }
  void store(real* p) const {
    for (int n = 0; n < full; ++n) put(p + n * W, v[n]);
    if constexpr (rest > 0) put_first<rest>(p + full * W, v[full]);
  }
};

// out[0..N) = sum of the entries' weights times N columns of rows of C, which are `stride` long.
template <int N>
inline void gather_columns(const int* crd, const real* b, std::int64_t p, std::int64_t e, const real* C,
                           std::int64_t stride, real* out) {
  Row<N> s;
  s.clear();
  // Short rows wait less with several sums.
  if constexpr (4 * Row<N>::registers <= accumulators) {
    if (p + 4 <= e) {
      Row<N> t, u, w;
      t.clear(), u.clear(), w.clear();
      for (; p + 4 <= e; p += 4) {
        s.add(b[p], C + crd[p] * stride);
        t.add(b[p + 1], C + crd[p + 1] * stride);
        u.add(b[p + 2], C + crd[p + 2] * stride);
        w.add(b[p + 3], C + crd[p + 3] * stride);
      }
      for (int n = 0; n < Row<N>::registers; ++n) s.v[n] += t.v[n] + (u.v[n] + w.v[n]);
    }
  }
  for (; p < e; ++p) s.add(b[p], C + crd[p] * stride);
  s.store(out);
}
// The same for whole rows of C, so many columns at a time that their sums stay in registers.
template <int N, int From = 0>
inline void gather(const int* crd, const real* b, std::int64_t p, std::int64_t e, const real* C, real* out) {
  constexpr int count = std::min(N - From, accumulators * W);
  gather_columns<count>(crd, b, p, e, C + From, N, out + From);
  if constexpr (From + count < N) gather<N, From + count>(crd, b, p, e, C, out);
}

// COUNT columns, from `column` on, of R rows of out = R rows of T (stride K) times D (K by N).
template <int R, int K, int N, int COUNT>
inline void tile(const real* T, const real* D, real* const* out, int column) {
  Row<COUNT> s[R];
  for (auto& r : s) r.clear();
#pragma GCC unroll 1
  for (int k = 0; k < K; ++k) {
    Row<COUNT> d;
    d.load(D + k * N + column);
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < Row<COUNT>::registers; ++c) s[r].v[c] += T[r * K + k] * d.v[c];
  }
  for (int r = 0; r < R; ++r) s[r].store(out[r] + column);
}
// Registers of columns in a tile, and rows of it.
constexpr int tile_columns(int n) { return std::min((n + W - 1) / W, VECTOR_BYTES == 64 ? 4 : 3); }
constexpr int tile_rows(int columns) {
  return columns >= 3 ? accumulators / columns : columns == 2 ? accumulators / 2 : accumulators * 7 / 12;
}
template <int R, int K, int N>
inline void tiles(const real* T, const real* D, real* const* out) {
  constexpr int step = tile_columns(N) * W, whole = N / step * step;
  for (int column = 0; column < whole; column += step) tile<R, K, N, step>(T, D, out, column);
  if constexpr (whole < N) tile<R, K, N, N - whole>(T, D, out, whole);
}
template <int K, int N>
void multiply(const real* T, const real* D, real* const* out, std::int64_t rows) {
  constexpr int R = tile_rows(tile_columns(N));
  std::int64_t r = 0;
  for (; r + R <= rows; r += R) tiles<R, K, N>(T + r * K, D, out + r);
  for (; r < rows; ++r) tiles<1, K, N>(T + r * K, D, out + r);
}
template <int K, int N>
void multiply(const real* T, const real* D, real* out, std::int64_t rows) {
  real* at[48];
  for (std::int64_t r = 0; r < rows; r += 48) {
    const std::int64_t count = std::min<std::int64_t>(48, rows - r);
    for (std::int64_t n = 0; n < count; ++n) at[n] = out + (r + n) * N;
    multiply<K, N>(T + r * K, D, at, count);
  }
}

// Four sums of a register's elements.
inline vec4 fold_half(vec8 v) {
  union {
    vec8 whole;
    vec4 half[2];
  } u = {v};
  return u.half[0] + u.half[1];
}
inline vec4 fold(vec v) {
  union {
    vec whole;
    vec8 eight[2];
    vec4 four;
  } u = {v};
  if constexpr (W == 4) return u.four;
  if constexpr (W == 8) return fold_half(u.eight[0]);
  return fold_half(u.eight[0] + u.eight[1]);
}
template <int N>
inline vec dot(const Row<N>& c, const real* a) {
  Row<N> x;
  x.load(a);
  vec s{};
  for (int n = 0; n < Row<N>::registers; ++n) s += c.v[n] * x.v[n];
  return s;
}
template <int N>
inline vec4 dot4(const Row<N>& c, const real* a0, const real* a1, const real* a2, const real* a3) {
  const vec4 a = fold(dot(c, a0)), b = fold(dot(c, a1)), x = fold(dot(c, a2)), y = fold(dot(c, a3));
  const vec4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const vec4 xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, xy, 0, 1, 4, 5) + __builtin_shufflevector(ab, xy, 2, 3, 6, 7);
}
template <int N>
inline real dot1(const Row<N>& c, const real* a) {
  const vec4 f = fold(dot(c, a));
  return (f[0] + f[1]) + (f[2] + f[3]);
}
template <int N>
inline Row<N> row(const real* p) {
  Row<N> c;
  c.load(p);
  return c;
}

struct Input {
  std::map<char, std::int64_t> n;
  std::vector<std::vector<int>> pos, crd;
  std::vector<real> values;
  std::vector<std::vector<real>> dense;
  real* out = nullptr;
  bool dense_result = true;
};
using Way = std::pair<const char*, std::function<void()>>;

// values = the dot products of rows of C and D times B's, where B has entries.
template <int K>
void sample(const int* pos, const int* crd, const real* b, std::int64_t begin, std::int64_t end,
            const real* C, const real* D, real* out) {
  const std::int64_t last = pos[end];
  for (std::int64_t i = begin; i < end; ++i) {
    std::int64_t p = pos[i];
    const std::int64_t e = pos[i + 1];
    const Row<K> c = row<K>(C + i * K);
    const auto d = [&](std::int64_t q) { return D + std::int64_t{crd[q]} * K; };
    // What a group writes beyond its row is written again by the next row.
    for (; p < e && p + 4 <= last; p += 4)
      *reinterpret_cast<vec4*>(out + p) =
          dot4(c, d(p), d(p + 1), d(p + 2), d(p + 3)) * *reinterpret_cast<const vec4*>(b + p);
    for (; p < e; ++p) out[p] = dot1(c, d(p)) * b[p];
  }
}

template <int K>
std::vector<Way> spmm(Input& in) {
  return {{"rows", [&in] {
             const int *pos = in.pos[0].data(), *crd = in.crd[0].data();
             const real *b = in.values.data(), *C = in.dense[0].data();
             real* out = in.out;
             for (std::int64_t i = 0, n = in.n['i']; i < n; ++i)
               gather<K>(crd, b, pos[i], pos[i + 1], C, out + i * K);
           }}};
}

template <int K>
std::vector<Way> sddmm(Input& in) {
  return {{"groups of four", [&in] {
             sample<K>(in.pos[0].data(), in.crd[0].data(), in.values.data(), 0, in.n['i'], in.dense[0].data(),
                       in.dense[1].data(), in.out);
           }}};
}

template <int K>
std::vector<Way> k1(Input& in) {
  const auto blocked = [&in](std::int64_t rows) {
    static std::vector<real> weights;
    const int *pos = in.pos[0].data(), *crd = in.crd[0].data();
    const real *b = in.values.data(), *C = in.dense[0].data(), *D = in.dense[1].data(),
               *E = in.dense[2].data();
    real* out = in.out;
    weights.resize(in.values.size() + 8);
    for (std::int64_t i = 0, n = in.n['i']; i < n; i += rows) {
      const std::int64_t end = std::min(n, i + rows);
      real* w = weights.data() - pos[i];  // of this block, from its start on
      sample<K>(pos, crd, b, i, end, C, D, w);
      for (std::int64_t r = i; r < end; ++r) gather<K>(crd, w, pos[r], pos[r + 1], E, out + r * K);
    }
  };
  return {{"rows", [blocked] { blocked(1); }},
          {"48 rows", [blocked] { blocked(48); }},
          {"apart", [blocked, &in] { blocked(in.n['i']); }},
          {"four entries", [&in] {
             const int *pos = in.pos[0].data(), *crd = in.crd[0].data();
             const real *b = in.values.data(), *C = in.dense[0].data(), *D = in.dense[1].data(),
                        *E = in.dense[2].data();
             real* out = in.out;
             for (std::int64_t i = 0, rows = in.n['i']; i < rows; ++i) {
               const Row<K> c = row<K>(C + i * K);
               Row<K> s;
               s.clear();
               std::int64_t p = pos[i];
               const std::int64_t e = pos[i + 1];
               const auto at = [&](const real* of, std::int64_t q) { return of + std::int64_t{crd[q]} * K; };
               for (; p + 4 <= e; p += 4) {
                 const vec4 w = dot4(c, at(D, p), at(D, p + 1), at(D, p + 2), at(D, p + 3)) *
                                *reinterpret_cast<const vec4*>(b + p);
                 for (int n = 0; n < 4; ++n) s.add(w[n], at(E, p + n));
               }
               for (; p < e; ++p) s.add(b[p] * dot1(c, at(D, p)), at(E, p));
               s.store(out + i * K);
             }
           }}};
}

// Rows of B times C (J columns), blocks of `rows` of them times E (J by L).
template <int J, int L>
void rows_times(const Input& in, std::int64_t n, const real* C, const real* E, real* out, std::int64_t rows) {
  static std::vector<real> t;
  t.resize(static_cast<std::size_t>(rows * J));
  const int *pos = in.pos[0].data(), *crd = in.crd[0].data();
  const real* b = in.values.data();
  real* T = t.data();
  for (std::int64_t i = 0; i < n; i += rows) {
    const std::int64_t count = std::min(rows, n - i);
    for (std::int64_t r = 0; r < count; ++r) gather<J>(crd, b, pos[i + r], pos[i + r + 1], C, T + r * J);
    multiply<J, L>(T, E, out + i * L, count);
  }
}
// C (m by J) times E (J by L) first, then one sparse product.
template <int J, int L>
void factors_first(const Input& in, std::int64_t n, std::int64_t m, const real* C, const real* E, real* out) {
  static std::vector<real> t;
  t.resize(static_cast<std::size_t>(m * L));
  multiply<J, L>(C, E, t.data(), m);
  const int *pos = in.pos[0].data(), *crd = in.crd[0].data();
  const real *b = in.values.data(), *T = t.data();
  for (std::int64_t i = 0; i < n; ++i) gather<L>(crd, b, pos[i], pos[i + 1], T, out + i * L);
}

template <int K>
std::vector<Way> k3(Input& in) {
  const auto both = [&in] {
    static std::vector<real> t;
    t.resize(in.dense[0].size());
    for (std::size_t n = 0; n < t.size(); ++n) t[n] = in.dense[0][n] * in.dense[1][n];
    return t.data();
  };
  return {
      {"48 rows", [both, &in] { rows_times<K, K>(in, in.n['i'], both(), in.dense[2].data(), in.out, 48); }},
      {"12 rows", [both, &in] { rows_times<K, K>(in, in.n['i'], both(), in.dense[2].data(), in.out, 12); }},
      {"factors first",
       [both, &in] { factors_first<K, K>(in, in.n['i'], in.n['k'], both(), in.dense[2].data(), in.out); }}};
}

template <int K, int L>
std::vector<Way> k4(Input& in) {
  return {{"48 rows",
           [&in] { rows_times<K, L>(in, in.n['i'], in.dense[0].data(), in.dense[1].data(), in.out, 48); }},
          {"12 rows",
           [&in] { rows_times<K, L>(in, in.n['i'], in.dense[0].data(), in.dense[1].data(), in.out, 12); }},
          {"factors first", [&in] {
             factors_first<K, L>(in, in.n['i'], in.n['j'], in.dense[0].data(), in.dense[1].data(), in.out);
           }}};
}

// What stands between the fibers of a result in storage order is cleared, the fibers are written.
template <int K, class Fiber>
void fibers(const Input& in, Fiber fiber) {
  const std::int64_t columns = in.n.at('j');
  real* done = in.out;
  for (int pi = 0; pi < static_cast<int>(in.crd[0].size()); ++pi)
    for (int pj = in.pos[1][pi]; pj < in.pos[1][pi + 1]; ++pj) {
      real* to = in.out + (std::int64_t{in.crd[0][pi]} * columns + in.crd[1][pj]) * K;
      if (to > done) std::memset(done, 0, static_cast<std::size_t>(to - done) * sizeof(real));
      fiber(pj, to);
      done = to + K;
    }
  std::memset(done, 0, static_cast<std::size_t>(in.out + in.n.at('i') * columns * K - done) * sizeof(real));
}
template <int K, class Fiber>
void cleared(const Input& in, Fiber fiber) {
  const std::int64_t columns = in.n.at('j');
  std::memset(in.out, 0, static_cast<std::size_t>(in.n.at('i') * columns * K) * sizeof(real));
  for (int pi = 0; pi < static_cast<int>(in.crd[0].size()); ++pi)
    for (int pj = in.pos[1][pi]; pj < in.pos[1][pi + 1]; ++pj)
      fiber(pj, in.out + (std::int64_t{in.crd[0][pi]} * columns + in.crd[1][pj]) * K);
}
// A result that has the fibers of B.
template <class Fiber>
void stored(const Input& in, int K, Fiber fiber) {
  for (int pj = 0, n = static_cast<int>(in.crd[1].size()); pj < n; ++pj)
    fiber(pj, in.out + std::int64_t{pj} * K);
}
template <int K>
std::vector<Way> ttm_of(Input& in, const std::function<const real*()>& factor) {
  const auto fiber = [&in](const real* C) {
    return [pos = in.pos[2].data(), crd = in.crd[2].data(), b = in.values.data(), C](int pj, real* to) {
      gather<K>(crd, b, pos[pj], pos[pj + 1], C, to);
    };
  };
  if (!in.dense_result) return {{"fibers", [=, &in] { stored(in, K, fiber(factor())); }}};
  return {{"gaps cleared", [=, &in] { fibers<K>(in, fiber(factor())); }},
          {"cleared before", [=, &in] { cleared<K>(in, fiber(factor())); }}};
}
template <int K>
std::vector<Way> ttm(Input& in) {
  return ttm_of<K>(in, [&in] { return in.dense[0].data(); });
}

template <int K>
std::vector<Way> k7(Input& in) {
  auto ways = ttm_of<K>(in, [&in] {
    static std::vector<real> t;
    t.resize(in.dense[0].size());
    multiply<K, K>(in.dense[0].data(), in.dense[1].data(), t.data(), in.n['k']);
    return static_cast<const real*>(t.data());
  });
  ways.push_back({"48 fibers", [&in] {
                    static std::vector<real> t(48 * K);
                    std::int64_t count = 0;
                    real* to[48];
                    const auto flush = [&] {
                      multiply<K, K>(t.data(), in.dense[1].data(), to, count), count = 0;
                    };
                    const auto fiber = [&](int pj, real* where) {
                      gather<K>(in.crd[2].data(), in.values.data(), in.pos[2][pj], in.pos[2][pj + 1],
                                in.dense[0].data(), t.data() + count * K);
                      to[count++] = where;
                      if (count == 48) flush();
                    };
                    if (in.dense_result)
                      cleared<K>(in, fiber);
                    else
                      stored(in, K, fiber);
                    flush();
                  }});
  return ways;
}

// The rows that `to(i)` says = sums over fibers of C(j,:) times the fiber's sum of rows of D. Where the
// fiber's sum and the row have registers both, or the sum goes by memory; short fibers have few turns. Rows
// of `out` without entries are cleared.
template <int K, class To>
void fiber_products(Input& in, bool in_registers, const real* C, const real* D, const To& to) {
  const int *pos1 = in.pos[1].data(), *crd1 = in.crd[1].data(), *pos2 = in.pos[2].data(),
            *crd2 = in.crd[2].data();
  const real* b = in.values.data();
  std::int64_t next = 0;
  for (std::size_t pi = 0; pi < in.crd[0].size(); ++pi) {
    const std::int64_t i = in.crd[0][pi];
    std::memset(in.out + next * K, 0, static_cast<std::size_t>((i - next) * K) * sizeof(real));
    next = i + 1;
    Row<K> a;
    a.clear();
    for (int pj = pos1[pi]; pj < pos1[pi + 1]; ++pj) {
      const real* c = C + std::int64_t{crd1[pj]} * K;
      Row<K> s;
      if (in_registers) {
        s.clear();
        for (int pk = pos2[pj]; pk < pos2[pj + 1]; ++pk) s.add(b[pk], D + std::int64_t{crd2[pk]} * K);
      } else {
        real t[K];
        gather<K>(crd2, b, pos2[pj], pos2[pj + 1], D, t);
        s = row<K>(t);
      }
      Row<K> factor;
      factor.load(c);
      for (int n = 0; n < Row<K>::registers; ++n) a.v[n] += s.v[n] * factor.v[n];
    }
    a.store(to(i));
  }
  std::memset(in.out + next * K, 0, static_cast<std::size_t>((in.n['i'] - next) * K) * sizeof(real));
}

template <int K>
std::vector<Way> mttkrp(Input& in) {
  const auto rows = [&in](bool in_registers) {
    fiber_products<K>(in, in_registers, in.dense[0].data(), in.dense[1].data(),
                      [&in](std::int64_t i) { return in.out + i * K; });
  };
  return {{"registers", [rows] { rows(true); }}, {"several sums", [rows] { rows(false); }}};
}

// MTTKRP's rows, 48 at a time, times E.
template <int K>
std::vector<Way> k8(Input& in) {
  const auto blocks = [&in](bool in_registers) {
    static std::vector<real> t(48 * K);
    real* to[48];
    std::int64_t count = 0;
    const auto flush = [&] { multiply<K, K>(t.data(), in.dense[2].data(), to, count), count = 0; };
    fiber_products<K>(in, in_registers, in.dense[1].data(), in.dense[0].data(), [&](std::int64_t i) {
      if (count == 48) flush();
      to[count] = in.out + i * K;
      return t.data() + count++ * K;
    });
    flush();
  };
  return {{"registers, 48 rows", [blocks] { blocks(true); }},
          {"several sums, 48 rows", [blocks] { blocks(false); }}};
}

// COUNT columns, from `column` on, of R rows A(l,:) += sum over `count` fibers of C(fiber,l) * T(fiber,:),
// kept over the fibers.
template <int R, int K, int COUNT>
inline void outer(const real* const* c, const real* T, std::int64_t count, real* out, int l, int column,
                  bool is_first) {
  Row<COUNT> s[R];
  for (int r = 0; r < R; ++r) {
    if (is_first)
      s[r].clear();
    else
      s[r].load(out + (l + r) * K + column);
  }
  for (std::int64_t f = 0; f < count; ++f) {
    Row<COUNT> t;
    t.load(T + f * K + column);
    for (int r = 0; r < R; ++r)
      for (int n = 0; n < Row<COUNT>::registers; ++n) s[r].v[n] += c[f][l + r] * t.v[n];
  }
  for (int r = 0; r < R; ++r) s[r].store(out + (l + r) * K + column);
}
template <int K, int COUNT>
void outer_rows(const real* const* c, const real* T, std::int64_t count, real* out, int column,
                bool is_first) {
  constexpr int R = std::min(4, K);
  for (int l = 0; l < K / R * R; l += R) outer<R, K, COUNT>(c, T, count, out, l, column, is_first);
  for (int l = K / R * R; l < K; ++l) outer<1, K, COUNT>(c, T, count, out, l, column, is_first);
}
template <int K>
std::vector<Way> k6(Input& in) {
  const auto blocks = [&in](std::int64_t block) {
    static std::vector<real> t;
    static std::vector<const real*> c;
    t.resize(static_cast<std::size_t>(block * K));
    c.resize(static_cast<std::size_t>(block));
    std::int64_t next = 0;
    for (std::size_t pi = 0; pi < in.crd[0].size(); ++pi) {
      const std::int64_t i = in.crd[0][pi];
      std::memset(in.out + next * K * K, 0, static_cast<std::size_t>((i - next) * K * K) * sizeof(real));
      next = i + 1;
      real* out = in.out + i * K * K;
      for (std::int64_t p = in.pos[1][pi]; p < in.pos[1][pi + 1]; p += block) {
        const std::int64_t count = std::min<std::int64_t>(block, in.pos[1][pi + 1] - p);
        for (std::int64_t f = 0; f < count; ++f) {
          gather<K>(in.crd[2].data(), in.values.data(), in.pos[2][p + f], in.pos[2][p + f + 1],
                    in.dense[1].data(), t.data() + f * K);
          c[f] = in.dense[0].data() + std::int64_t{in.crd[1][p + f]} * K;
        }
        constexpr int step = tile_columns(K) * W, whole = K / step * step;
        const bool is_first = p == in.pos[1][pi];
        for (int column = 0; column < whole; column += step)
          outer_rows<K, step>(c.data(), t.data(), count, out, column, is_first);
        if constexpr (whole < K) outer_rows<K, K - whole>(c.data(), t.data(), count, out, whole, is_first);
      }
    }
    std::memset(in.out + next * K * K, 0,
                static_cast<std::size_t>((in.n['i'] - next) * K * K) * sizeof(real));
  };
  return {{"8 fibers", [blocks] { blocks(8); }},
          {"32 fibers", [blocks] { blocks(32); }},
          {"128 fibers", [blocks] { blocks(128); }}};
}

template <int K>
std::vector<Way> ways(const std::string& kernel, Input& in) {
  if (kernel == "SpMM") return spmm<K>(in);
  if (kernel == "SDDMM") return sddmm<K>(in);
  if (kernel == "TTM") return ttm<K>(in);
  if (kernel == "MTTKRP") return mttkrp<K>(in);
  if (kernel == "K1") return k1<K>(in);
  if (kernel == "K3") return k3<K>(in);
  if (kernel == "K4") return in.n['k'] == 128 ? k4<128, K>(in) : k4<K, K>(in);
  if (kernel == "K6") return k6<K>(in);
  if (kernel == "K7") return k7<K>(in);
  if (kernel == "K8") return k8<K>(in);
  throw std::runtime_error("no kernel " + kernel);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 9) return 2;
  std::string kernel = argv[1];
  Input in;
  in.dense_result = kernel != "TTM" && kernel != "K7";
  if (kernel.back() == 'd') kernel.pop_back();
  in.n = extents_of(argv[2]);
  const int runs = std::atoi(argv[3]);
  const double limit = std::atof(argv[4]);
  int a = 5;
  const bool tensor =
      kernel == "TTM" || kernel == "MTTKRP" || kernel == "K6" || kernel == "K7" || kernel == "K8";
  for (int level = 0; level < (tensor ? 3 : 1); ++level) {
    in.pos.push_back(read<int>(argv[a++]));
    in.crd.push_back(read<int>(argv[a++]));
  }
  in.values = read<real>(argv[a++]);
  while (a + 1 < argc) in.dense.push_back(read<real>(argv[a++]));
  static const std::map<std::string, std::string> results = {{"SpMM", "ik"}, {"TTM", "ijl"}, {"MTTKRP", "il"},
                                                             {"K1", "il"},   {"K3", "il"},   {"K4", "il"},
                                                             {"K6", "ilm"},  {"K7", "ijm"},  {"K8", "im"}};
  std::int64_t elements = kernel == "SDDMM" ? static_cast<std::int64_t>(in.values.size()) : 1;
  const char last = kernel == "SDDMM" || kernel == "SpMM" ? 'k' : results.at(kernel).back();
  if (!in.dense_result)
    elements = static_cast<std::int64_t>(in.crd[1].size()) * in.n.at(last);
  else if (kernel != "SDDMM")
    for (const char index : results.at(kernel)) elements *= in.n.at(index);
  in.out = static_cast<real*>(std::aligned_alloc(
      2 << 20,
      (static_cast<std::size_t>(elements + 8) * sizeof(real) + (2 << 20) - 1) / (2 << 20) * (2 << 20)));
  if (in.n.at(last) != COLUMNS)
    throw std::runtime_error("compiled for " + std::to_string(COLUMNS) + " columns alone");
  const auto found = ways<COLUMNS>(kernel, in);
  std::vector<double> best;
  std::string name;
  for (const auto& [what, body] : found) {
    std::vector<double> took;
    double spent = 0;
    for (int run = 0; run < runs && (run < 3 || spent < limit); ++run) {
      const auto start = std::chrono::steady_clock::now();
      body();
      took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      spent += took.back();
    }
    if (best.empty() ||
        *std::min_element(took.begin(), took.end()) < *std::min_element(best.begin(), best.end()))
      best = took, name = what;
  }
  for (const double seconds : best) std::printf("%.9f ", seconds);
  std::printf("\n");
  std::fprintf(stderr, "%s\n", name.c_str());
  std::ofstream out(argv[argc - 1], std::ios::binary);
  out.write(reinterpret_cast<const char*>(in.out),
            static_cast<std::streamsize>(elements * static_cast<std::int64_t>(sizeof(real))));
  return out.good() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

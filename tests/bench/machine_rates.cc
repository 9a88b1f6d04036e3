// What the processors of this machine can do at most, for the bounds of tests/bench/yardstick.py, which
// compiles this file (-march=native -fopenmp).
//
//     machine_rates THREADS CACHE
//
// CACHE is the size of the last-level cache. Prints a line `bytes BYTES RATE` for each of several amounts of
// data, and `flops RATE`. The rate of an amount is the better of a triad (a = b + s c, three arrays of that
// size together) and of a sum over as much, in bytes a second: the largest amount is four times the cache and
// 256 MiB at least, or a quarter of the memory where that is less. That of flops is of multiply-adds of the
// widest vectors, all operands in registers.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

#if defined(__AVX512F__)
constexpr int width = 64;
#elif defined(__AVX__)
constexpr int width = 32;
#else
constexpr int width = 16;
#endif
using vec = double __attribute__((vector_size(width), aligned(8), may_alias));
constexpr long lanes = width / sizeof(double);
constexpr int sums = 12;  ///< independent ones: more than two units times their latency

void keep(double value) { asm volatile("" : : "x"(value) : "memory"); }

// Seconds of `body` by all threads at once, the least of `times`.
template <class Body>
double seconds(int times, Body&& body) {
  double best = 1e9;
  for (int turn = 0; turn < times; ++turn) {
    double begin = 0;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp master
      begin = omp_get_wtime();
#pragma omp barrier
      body();
    }
    best = std::min(best, omp_get_wtime() - begin);
  }
  return best;
}

void triad(double* a, const double* b, const double* c, long n) {
  for (long i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
}

void sum(const double* a, long n) {
  vec s[sums] = {};
  long i = 0;
  for (; i + sums * lanes <= n; i += sums * lanes) {
    for (int k = 0; k < sums; ++k) s[k] += *reinterpret_cast<const vec*>(a + i + k * lanes);
  }
  for (int k = 1; k < sums; ++k) s[0] += s[k];
  keep(s[0][0]);
}

// Bytes a second over `bytes` in all. Each thread owns a share: three arrays of a triad, one after the other.
double bytes_rate(long bytes, int threads) {
  const long share = bytes / threads / 3 / static_cast<long>(sizeof(double));
  const int repeat = static_cast<int>(std::max<long>(1, (64L << 20) / bytes)),
            times = bytes > (64L << 20) ? 5 : 9;
  std::vector<double*> owned(static_cast<std::size_t>(threads));
#pragma omp parallel
  {
    double* memory = static_cast<double*>(std::malloc(static_cast<std::size_t>(3 * share) * sizeof(double)));
    if (memory == nullptr) std::abort();
    std::fill(memory, memory + 3 * share, 1.0);
    owned[static_cast<std::size_t>(omp_get_thread_num())] = memory;
  }
  const auto mine = [&] { return owned[static_cast<std::size_t>(omp_get_thread_num())]; };
  const double of_triad = seconds(times, [&] {
    double* a = mine();
    for (int n = 0; n < repeat; ++n) triad(a, a + share, a + 2 * share, share), keep(a[0]);
  });
  const double of_sum = seconds(times, [&] {
    const double* a = mine();
    for (int n = 0; n < repeat; ++n) sum(a, 3 * share);
  });
  for (double* memory : owned) std::free(memory);
  return 3.0 * static_cast<double>(share) * sizeof(double) * threads * repeat / std::min(of_triad, of_sum);
}

double flops_rate(int threads) {
  constexpr long turns = 2'000'000;
  const double best = seconds(9, [&] {
    vec s[sums] = {}, factor = vec{} + 0.5, term = vec{} + 1.0;
    asm volatile("" : "+x"(factor), "+x"(term));
    for (auto& one : s) asm volatile("" : "+x"(one));  // or they are known to be equal, and computed once
    for (long n = 0; n < turns; ++n) {
#pragma GCC unroll 12
      for (int k = 0; k < sums; ++k) s[k] = s[k] * factor + term;
    }
    for (int k = 1; k < sums; ++k) s[0] += s[k];
    keep(s[0][0]);
  });
  return 2.0 * lanes * sums * turns * threads / best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = std::atoi(argv[1]);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  const long cache = std::atol(argv[2]), memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  for (long bytes = std::min(std::max(4 * cache, 256L << 20), memory / 4); bytes >= 24L << 10; bytes /= 2) {
    std::printf("bytes %ld %.6g\n", bytes, bytes_rate(bytes, threads));
  }
  std::printf("flops %.6g\n", flops_rate(threads));
}

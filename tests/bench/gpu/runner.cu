// Times the generated SpMM kernels of kernels.inc on one device, beside every cuSPARSE algorithm, and compares each with a
// sum in doubles on the host. One line of JSON for each measurement. Built by run.py; reads the matrices it wrote.
//
//     runner MATRIX.bin NAME COLUMNS SECONDS
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gpu_abi.h"

struct Point {
  const char* name;      // the schedule, short
  const char* family;    // "row", "row shared", "entries", "entries segment"
  int take, width, columns;
  const schaas_gpu_descriptor* kernel;
};
#include "kernels.inc"

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const int status = (int)(call);                                                          \
    if (status != 0) {                                                                       \
      std::fprintf(stderr, "%s:%d: %s gave %d\n", __FILE__, __LINE__, #call, status);        \
      std::exit(2);                                                                          \
    }                                                                                        \
  } while (0)

template <class T>
T* on_device(const std::vector<T>& host) {
  T* out = nullptr;
  CHECK(cudaMalloc(&out, std::max<std::size_t>(host.size(), 1) * sizeof(T)));
  CHECK(cudaMemcpy(out, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return out;
}

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int32_t> pos, crd;
  std::vector<float> values;
};

template <class T>
void read(std::FILE* file, T* to, std::size_t count) {
  if (std::fread(to, sizeof(T), count, file) != count) std::exit(3);
}

Matrix read_matrix(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) std::exit(3);
  std::int64_t header[3];
  read(file, header, 3);
  Matrix m{header[0], header[1], std::vector<std::int32_t>(header[0] + 1), std::vector<std::int32_t>(header[2]),
           std::vector<float>(header[2])};
  read(file, m.pos.data(), m.pos.size());
  read(file, m.crd.data(), m.crd.size());
  read(file, m.values.data(), m.values.size());
  std::fclose(file);
  return m;
}

/// The median of as many runs as the time allows, at least 5; the cache holds what the run before left.
template <class Run>
double median_seconds(double seconds, const Run& run) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  run();
  CHECK(cudaDeviceSynchronize());
  std::vector<double> times;
  const auto start = std::chrono::steady_clock::now();
  while (times.size() < 5 ||
         (times.size() < 200 &&
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds)) {
    CHECK(cudaEventRecord(begin));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms / 1e3);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main(int argc, char** argv) {
  if (argc != 5) return 1;
  const Matrix a = read_matrix(argv[1]);
  const std::int64_t n = std::atoll(argv[3]);
  const double seconds = std::atof(argv[4]);
  std::mt19937 random(1);
  std::vector<float> b(static_cast<std::size_t>(a.columns * n));
  for (auto& x : b) x = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8;
  std::vector<double> want(static_cast<std::size_t>(a.rows * n)), size(want.size());
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
      for (std::int64_t k = 0; k < n; ++k) {
        const double term = static_cast<double>(a.values[p]) * b[a.crd[p] * n + k];
        want[i * n + k] += term;
        size[i * n + k] += std::fabs(term);
      }
    }
  }
  const auto entries = static_cast<std::int64_t>(a.crd.size());
  std::int32_t* const pos = on_device(a.pos);
  std::int32_t* const crd = on_device(a.crd);
  float* const values = on_device(a.values);
  float* const dense = on_device(b);
  std::vector<float> found(want.size(), std::nanf(""));
  float* const result = on_device(found);
  // Each byte once: what any kernel has to move.
  const double bytes = 4.0 * (a.rows + 1) + 8.0 * entries + 4.0 * n * (a.columns + a.rows);
  const auto report = [&](const std::string& what, const char* family, int take, int width, int columns, double time) {
    CHECK(cudaMemcpy(found.data(), result, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (std::size_t at = 0; at < want.size(); ++at) {
      const double error = std::fabs(found[at] - want[at]);
      worst = std::max(worst, error == error ? error / std::max(size[at], 1e-30) : HUGE_VAL);
      if (size[at] == 0 && found[at] == 0) continue;
    }
    std::printf("{\"matrix\": \"%s\", \"n\": %lld, \"kernel\": \"%s\", \"family\": \"%s\", \"take\": %d, \"width\": %d, "
                "\"columns\": %d, \"seconds\": %.9g, \"gb_per_second\": %.4g, \"error\": %.3g}\n",
                argv[2], static_cast<long long>(n), what.c_str(), family, take, width, columns, time,
                bytes / time / 1e9, std::isfinite(worst) ? worst : 1e30);
    std::fflush(stdout);
  };
  const auto clear = [&] { CHECK(cudaMemset(result, 0xff, found.size() * sizeof(float))); };

  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t in, out;
  CHECK(cusparseCreateCsr(&sparse, a.rows, a.columns, entries, pos, crd, values, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CHECK(cusparseCreateDnMat(&in, a.columns, n, n, dense, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  CHECK(cusparseCreateDnMat(&out, a.rows, n, n, result, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  const float one = 1, zero = 0;
  const std::pair<const char*, cusparseSpMMAlg_t> algorithms[] = {{"default", CUSPARSE_SPMM_ALG_DEFAULT},
                                                                  {"csr 1", CUSPARSE_SPMM_CSR_ALG1},
                                                                  {"csr 2", CUSPARSE_SPMM_CSR_ALG2},
                                                                  {"csr 3", CUSPARSE_SPMM_CSR_ALG3}};
  for (const auto& [name, algorithm] : algorithms) {
    std::size_t need = 0;
    const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (cusparseSpMM_bufferSize(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, &need) != 0)
      continue;
    void* buffer = nullptr;
    CHECK(cudaMalloc(&buffer, need + 16));
    clear();
    const auto run = [&] {
      return cusparseSpMM(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, buffer);
    };
    cusparseSpMM_preprocess(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, buffer);
    if (run() == CUSPARSE_STATUS_SUCCESS) report(name, "cusparse", 0, 0, 0, median_seconds(seconds, run));
    CHECK(cudaFree(buffer));
  }

  const std::int64_t result_extents[] = {a.rows, n}, sparse_extents[] = {a.rows, a.columns}, dense_extents[] = {a.columns, n};
  const std::int32_t modes[] = {0, 1};
  const schaas_level dense_levels[2] = {};
  schaas_level csr[2] = {};
  csr[0].entries = a.rows;
  csr[1] = {SCHAAS_LEVEL_COMPRESSED, 32, pos, crd, entries};
  const schaas_tensor c{2, SCHAAS_F32, result_extents, modes, dense_levels, result};
  const schaas_tensor s{2, SCHAAS_F32, sparse_extents, modes, csr, values};
  const schaas_tensor d{2, SCHAAS_F32, dense_extents, modes, dense_levels, dense};
  const schaas_tensor* const arguments[] = {&c, &s, &d};
  for (const Point& point : points) {
    const auto& kernel = *point.kernel;
    const auto& phase = kernel.phases[0];
    alignas(16) char parameters[4096];
    if (kernel.phase_count != 1 || phase.parameter_bytes > static_cast<int>(sizeof parameters)) continue;
    const std::int64_t blocks = phase.prepare(arguments, nullptr, nullptr, 0, parameters);
    if (blocks < 0) {
      std::fprintf(stderr, "%s refuses its arguments\n", point.name);
      continue;
    }
    clear();
    const auto run = [&] {
      if (kernel.writes_all == 0) CHECK(cudaMemsetAsync(result, 0, found.size() * sizeof(float)));
      if (blocks > 0) CHECK(phase.launch(parameters, blocks, nullptr));
    };
    report(point.name, point.family, point.take, point.width, point.columns, median_seconds(seconds, run));
  }
  return 0;
}

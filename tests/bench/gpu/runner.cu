// Times the generated kernels of kernels.inc on one device, beside what cuSPARSE has for them, and compares each with a
// sum in doubles on the host. One line of JSON for each measurement. Built by run.py; reads the matrices it wrote.
// Compiled with SCHAAS_EMULATED it runs on the host, without cuSPARSE: that all of it is right, not how fast.
//
//     runner MATRIX.bin NAME COLUMNS[,COLUMNS...] SECONDS [PROBLEM]
//
// The seconds are those of the whole process: each number of columns gets the same part of what is left, each kernel of that.
#ifdef SCHAAS_EMULATED
#include "emulated_runtime.h"
#else
#include <cuda_runtime.h>
#include <cusparse.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gpu_abi.h"

struct Point {
  const char* problem;   // "spmm", "sddmm", "fused", "spmm bf16"
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

/// Numbers as the kernels read them: of bf16 the upper halves, which hold all that this bench makes.
void* numbers_on_device(const std::vector<float>& host, bool narrow) {
  if (!narrow) return on_device(host);
  std::vector<std::uint16_t> halves(host.size());
  for (std::size_t n = 0; n < host.size(); ++n) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &host[n], sizeof bits);
    halves[n] = static_cast<std::uint16_t>(bits >> 16);
  }
  return on_device(halves);
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

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The median of as many runs as the time allows, at least 5; the cache holds what the run before left. A run that
/// takes over 20 times as long as `*best`, the least so far, is not repeated: many of those would use up the time.
template <class Run>
double median_seconds(double seconds, double* best, const Run& run) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  const double start = now();
  run();
  CHECK(cudaDeviceSynchronize());
  std::vector<double> times = {now() - start};
  if (times[0] > 1e-3 && times[0] > 20 * *best) return times[0];
  times.clear();
  while (times.size() < 5 || (times.size() < 200 && now() - start < seconds)) {
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
  *best = std::min(*best, times[times.size() / 2]);
  return times[times.size() / 2];
}

using Numbers = std::vector<double>;

// What is computed, with A sparse and n columns:
//     spmm    C(i,k) = A(i,j) * B(j,k)
//     sddmm   Y(i,j) = A(i,j) * C(i,k) * D(j,k)           Y with the entries of A
//     fused   Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)  k and l of n
// In the last two A is one where it holds something: cuSPARSE samples by the pattern. Operands of "spmm bf16" take two bytes, its result four.
struct Operand {
  std::string name;
  std::int64_t rows;
  std::vector<float> values;
  void* device = nullptr;
};
struct Work {
  std::string problem, result;
  bool narrow = false;  // operands of bf16
  std::int64_t n = 0;
  Matrix a;
  std::vector<Operand> dense;
  // Every so many-th row of the result is compared: its values, and the sums of absolute values, row by row.
  std::int64_t every = 1;
  std::vector<std::int64_t> first;  // where a compared row begins in them
  Numbers want, size;

  const Operand& operand(const std::string& name) const {
    for (const Operand& one : dense)
      if (one.name == name) return one;
    std::fprintf(stderr, "no operand %s\n", name.c_str());
    std::exit(4);
  }
};

constexpr double most_terms = 2e8;  // that the host sums

// Of one row: dot products of C and D at its entries, and those times rows of E.
void expect_row(Work& work, std::int64_t i) {
  const Matrix& a = work.a;
  const std::int64_t n = work.n;
  const bool spmm = work.problem == "spmm", sddmm = work.problem == "sddmm";
  double* const want = work.want.data() + work.first[i / work.every];
  double* const size = work.size.data() + work.first[i / work.every];
  const auto at = [&](const Operand& from, std::int64_t row, std::int64_t k) {
    return static_cast<double>(from.values[static_cast<std::size_t>(row * n + k)]);
  };
  for (std::int32_t p = a.pos[i]; p < a.pos[i + 1]; ++p) {
    const std::int64_t j = a.crd[p];
    double dot = a.values[p], absolute = std::fabs(dot);
    if (!spmm) {
      double sum = 0, all = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const double term = at(work.dense[0], i, k) * at(work.dense[1], j, k);
        sum += term;
        all += std::fabs(term);
      }
      dot *= sum;
      absolute *= all;
    }
    if (sddmm) {
      want[p - a.pos[i]] = dot;
      size[p - a.pos[i]] = absolute;
      continue;
    }
    const Operand& last = work.dense.back();
    for (std::int64_t k = 0; k < n; ++k) {
      want[k] += dot * at(last, j, k);
      size[k] += absolute * std::fabs(at(last, j, k));
    }
  }
}

// Elements of the result before row i.
std::int64_t before_row(const Work& work, std::int64_t i) {
  return work.problem == "sddmm" ? work.a.pos[i] : i * work.n;
}

void expect(Work& work) {
  const double terms = static_cast<double>(work.a.crd.size()) * work.n * (work.problem == "fused" ? 2 : 1);
  work.every = std::max<std::int64_t>(1, static_cast<std::int64_t>(terms / most_terms + 0.5));
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < work.a.rows; i += work.every) {
    work.first.push_back(count);
    count += before_row(work, i + 1) - before_row(work, i);
  }
  work.want.assign(static_cast<std::size_t>(count), 0);
  work.size.assign(static_cast<std::size_t>(count), 0);
  const std::int64_t crew = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < crew; ++t)
    threads.emplace_back([&work, t, crew] {
      for (std::int64_t i = t * work.every; i < work.a.rows; i += crew * work.every) expect_row(work, i);
    });
  for (std::thread& thread : threads) thread.join();
}

// The largest error among the compared rows, relative to the sums of absolute values.
double worst_error(const Work& work, const std::vector<float>& found) {
  double worst = 0;
  for (std::int64_t i = 0; i < work.a.rows; i += work.every) {
    const std::int64_t from = before_row(work, i), count = before_row(work, i + 1) - from;
    for (std::int64_t at = 0; at < count; ++at) {
      const std::int64_t expected = work.first[i / work.every] + at;
      const double error = std::fabs(found[from + at] - work.want[expected]);
      worst = std::max(worst, error == error ? error / std::max(work.size[expected], 1e-30) : HUGE_VAL);
    }
  }
  return std::isfinite(worst) ? worst : 1e30;
}

Work make_work(const std::string& asked, Matrix a, std::int64_t n) {
  const bool narrow = asked == "spmm bf16";
  const std::string problem = narrow ? "spmm" : asked;
  Work work{problem, problem == "spmm" ? "C" : "Y", narrow, n, std::move(a)};
  std::mt19937 random(1);
  const auto add = [&](const char* name, std::int64_t rows) {
    Operand one{name, rows, std::vector<float>(static_cast<std::size_t>(rows * n))};
    for (auto& x : one.values) x = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8;
    work.dense.push_back(std::move(one));
  };
  if (problem == "spmm") {
    add("B", work.a.columns);
  } else {
    std::fill(work.a.values.begin(), work.a.values.end(), 1.0f);
    add("C", work.a.rows);
    add("D", work.a.columns);
    if (problem == "fused") add("E", work.a.columns);
  }
  expect(work);
  return work;
}

// The kernel says which argument is which: the lines "format NAME ..." of its problem, in order.
std::vector<std::string> arguments_of(const schaas_gpu_descriptor& kernel) {
  std::vector<std::string> names;
  const std::string text = kernel.problem;
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    if (text.compare(line, 7, "format ") == 0) names.push_back(text.substr(line + 7, text.find(' ', line + 7) - line - 7));
    line = end + 1;
  }
  return names;
}

// Measures everything of one problem, until the deadline, each as long as is left for each.
int measure(const std::string& asked, const Matrix& matrix_read, const char* name, std::int64_t n, double deadline) {
  Work work = make_work(asked, matrix_read, n);
  const std::string& problem = work.problem;
  const bool narrow = work.narrow;
  const Matrix& a = work.a;
  const auto entries = static_cast<std::int64_t>(a.crd.size());
  std::int32_t* const pos = on_device(a.pos);
  std::int32_t* const crd = on_device(a.crd);
  void* const values = numbers_on_device(a.values, narrow);
  for (Operand& one : work.dense) one.device = numbers_on_device(one.values, narrow);
  std::vector<float> found(static_cast<std::size_t>(before_row(work, a.rows)), std::nanf(""));
  float* const result = on_device(found);
  // Each byte once: what any kernel has to move.
  const double bytes_of_value = narrow ? 2 : 4;
  double bytes = 4.0 * (a.rows + 1) + (4.0 + bytes_of_value) * entries + 4.0 * found.size();
  for (const Operand& one : work.dense) bytes += bytes_of_value * one.values.size();
  const auto report = [&](const std::string& what, const char* family, int take, int width, int columns, double time) {
    CHECK(cudaMemcpy(found.data(), result, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    const double worst = worst_error(work, found);
    std::printf("{\"problem\": \"%s\", \"matrix\": \"%s\", \"n\": %lld, \"kernel\": \"%s\", \"family\": \"%s\", \"take\": %d, "
                "\"width\": %d, \"columns\": %d, \"seconds\": %.9g, \"gb_per_second\": %.4g, \"error\": %.3g}\n",
                asked.c_str(), name, static_cast<long long>(n), what.c_str(), family, take, width, columns, time,
                bytes / time / 1e9, worst);
    std::fflush(stdout);
  };
  int remaining = 5;  // those of cuSPARSE
  for (const Point& point : points) remaining += asked == point.problem ? 1 : 0;
  const auto seconds = [&] { return std::max(0.0, deadline - now()) / std::max(remaining--, 1) / 2; };
  double best = HUGE_VAL;
  const auto clear = [&] { CHECK(cudaMemset(result, 0xff, found.size() * sizeof(float))); };

#ifndef SCHAAS_EMULATED
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  const float one = 1, zero = 0;
  const auto none = CUSPARSE_OPERATION_NON_TRANSPOSE, turned = CUSPARSE_OPERATION_TRANSPOSE;
  const auto matrix = [&](void* at, cudaDataType type) {
    cusparseSpMatDescr_t out;
    CHECK(cusparseCreateCsr(&out, a.rows, a.columns, entries, pos, crd, at, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, type));
    return out;
  };
  const cudaDataType operands = narrow ? CUDA_R_16BF : CUDA_R_32F;
  const auto rows_of = [&](void* at, std::int64_t rows, cudaDataType type) {
    cusparseDnMatDescr_t out;
    CHECK(cusparseCreateDnMat(&out, rows, n, n, at, type, CUSPARSE_ORDER_ROW));
    return out;
  };
  const auto buffer_of = [](std::size_t need) {
    void* buffer = nullptr;
    CHECK(cudaMalloc(&buffer, need + 16));
    return buffer;
  };
  // The sampled product, into values of its own, or the result's.
  float* const sampled = problem == "fused" ? on_device(a.values) : result;
  cusparseSpMatDescr_t samples = nullptr;
  cusparseDnMatDescr_t left = nullptr, right = nullptr;
  void* sddmm_buffer = nullptr;
  if (problem != "spmm") {
    samples = matrix(sampled, CUDA_R_32F);
    left = rows_of(work.operand("C").device, a.rows, operands);
    right = rows_of(work.operand("D").device, a.columns, operands);
    std::size_t need = 0;
    CHECK(cusparseSDDMM_bufferSize(handle, none, turned, &one, left, right, &zero, samples, CUDA_R_32F,
                                   CUSPARSE_SDDMM_ALG_DEFAULT, &need));
    sddmm_buffer = buffer_of(need);
    CHECK(cusparseSDDMM_preprocess(handle, none, turned, &one, left, right, &zero, samples, CUDA_R_32F,
                                   CUSPARSE_SDDMM_ALG_DEFAULT, sddmm_buffer));
  }
  const auto sddmm = [&] {
    return cusparseSDDMM(handle, none, turned, &one, left, right, &zero, samples, CUDA_R_32F,
                         CUSPARSE_SDDMM_ALG_DEFAULT, sddmm_buffer);
  };
  if (problem == "sddmm") {
    clear();
    if (sddmm() == CUSPARSE_STATUS_SUCCESS) report("default", "cusparse", 0, 0, 0, median_seconds(seconds(), &best, sddmm));
  } else {
    const cusparseSpMatDescr_t sparse = problem == "fused" ? samples : matrix(values, operands);
    const Operand& last = work.dense.back();
    const cusparseDnMatDescr_t in = rows_of(last.device, last.rows, operands), out = rows_of(result, a.rows, CUDA_R_32F);
    const std::pair<const char*, cusparseSpMMAlg_t> algorithms[] = {{"default", CUSPARSE_SPMM_ALG_DEFAULT},
                                                                    {"csr 1", CUSPARSE_SPMM_CSR_ALG1},
                                                                    {"csr 2", CUSPARSE_SPMM_CSR_ALG2},
                                                                    {"csr 3", CUSPARSE_SPMM_CSR_ALG3}};
    for (const auto& [name, algorithm] : algorithms) {
      std::size_t need = 0;
      if (cusparseSpMM_bufferSize(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, &need) != 0)
        continue;
      void* const buffer = buffer_of(need);
      clear();
      const auto run = [&, algorithm = algorithm] {
        if (problem == "fused" && sddmm() != CUSPARSE_STATUS_SUCCESS) return CUSPARSE_STATUS_EXECUTION_FAILED;
        return cusparseSpMM(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, buffer);
      };
      cusparseSpMM_preprocess(handle, none, none, &one, sparse, in, &zero, out, CUDA_R_32F, algorithm, buffer);
      if (run() == CUSPARSE_STATUS_SUCCESS) report(name, "cusparse", 0, 0, 0, median_seconds(seconds(), &best, run));
      CHECK(cudaFree(buffer));
    }
  }
#endif

  const std::int32_t modes[] = {0, 1};
  const schaas_level dense_levels[2] = {};
  schaas_level csr[2] = {};
  csr[0].entries = a.rows;
  csr[1] = {SCHAAS_LEVEL_COMPRESSED, 32, pos, crd, entries};
  const std::int64_t sparse_extents[] = {a.rows, a.columns}, result_extents[] = {a.rows, n};
  const std::int64_t row_extents[] = {a.rows, n}, column_extents[] = {a.columns, n};
  const auto tensor = [&](const std::string& name) -> schaas_tensor {
    const auto type = narrow ? SCHAAS_BF16 : SCHAAS_F32;
    if (name == "A") return {2, type, sparse_extents, modes, csr, values};
    if (name == work.result && problem == "sddmm") return {2, SCHAAS_F32, sparse_extents, modes, csr, result};
    if (name == work.result) return {2, SCHAAS_F32, result_extents, modes, dense_levels, result};
    const Operand& one = work.operand(name);
    const bool by_rows = problem != "spmm" && name == "C";
    return {2, type, by_rows ? row_extents : column_extents, modes, dense_levels, one.device};
  };
  constexpr std::int64_t workspace_threads = 1 << 16;
  for (const Point& point : points) {
    if (asked != point.problem) continue;
    const auto& kernel = *point.kernel;
    std::vector<schaas_tensor> tensors;
    for (const std::string& name : arguments_of(kernel)) tensors.push_back(tensor(name));
    std::vector<const schaas_tensor*> arguments;
    for (const schaas_tensor& one : tensors) arguments.push_back(&one);
    if (static_cast<int>(arguments.size()) != kernel.argument_count) return 5;
    // As the client would: a schedule whose temporaries take so much is passed over.
    constexpr std::int64_t most_bytes = std::int64_t{1} << 30;
    if (kernel.workspace_bytes(arguments.data()) > most_bytes / workspace_threads) continue;
    std::vector<void*> scratch;
    std::vector<std::size_t> scratch_bytes;
    const auto room = [&](std::int64_t size) {
      void* at = nullptr;
      CHECK(cudaMalloc(&at, static_cast<std::size_t>(std::max<std::int64_t>(size, 16))));
      scratch.push_back(at);
      scratch_bytes.push_back(static_cast<std::size_t>(size));
      return at;
    };
    for (std::int32_t s = 0; s < kernel.shared_count; ++s) room(kernel.shared_bytes(arguments.data(), s));
    const std::vector<void*> shared = scratch;
    const std::int64_t own = kernel.workspace_bytes(arguments.data());
    void* const workspace = own > 0 ? room(own * workspace_threads) : nullptr;
    struct Launch {
      const schaas_gpu_phase* phase;
      std::vector<std::max_align_t> parameters;
      std::int64_t blocks;
    };
    std::vector<Launch> launches;
    bool refused = false;
    for (std::int32_t p = 0; p < kernel.phase_count; ++p) {
      const auto& phase = kernel.phases[p];
      Launch launch{&phase, std::vector<std::max_align_t>(phase.parameter_bytes / sizeof(std::max_align_t) + 1), 0};
      launch.blocks = phase.prepare(arguments.data(), shared.data(), workspace, workspace_threads, launch.parameters.data());
      refused = refused || launch.blocks < 0;
      launches.push_back(std::move(launch));
    }
    if (refused) {
      std::fprintf(stderr, "%s refuses its arguments\n", point.name);
      return 6;
    }
    clear();
    const auto run = [&] {
      if (kernel.writes_all == 0) CHECK(cudaMemsetAsync(result, 0, found.size() * sizeof(float)));
      for (std::size_t s = 0; s < scratch.size(); ++s) CHECK(cudaMemsetAsync(scratch[s], 0, scratch_bytes[s]));
      for (const Launch& launch : launches)
        if (launch.blocks > 0) CHECK(launch.phase->launch(launch.parameters.data(), launch.blocks, nullptr));
    };
    report(point.name, point.family, point.take, point.width, point.columns, median_seconds(seconds(), &best, run));
    for (void* at : scratch) CHECK(cudaFree(at));
  }
  for (const void* at : {static_cast<const void*>(pos), static_cast<const void*>(crd), static_cast<const void*>(values),
                         static_cast<const void*>(result)})
    CHECK(cudaFree(const_cast<void*>(at)));
  for (const Operand& one : work.dense) CHECK(cudaFree(one.device));
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 1;
  const double start = now(), seconds = std::atof(argv[4]);
  const Matrix matrix = read_matrix(argv[1]);
  std::vector<std::int64_t> columns;
  for (const char* at = argv[3]; *at != 0; at += *at == ',') {
    char* end = nullptr;
    columns.push_back(std::strtoll(at, &end, 10));
    if (end == at) return 1;
    at = end;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const double part = (start + seconds - now()) / static_cast<double>(columns.size() - c);
    const int status = measure(argc == 6 ? argv[5] : "spmm", matrix, argv[2], columns[c], now() + std::max(part, 0.0));
    if (status != 0) return status;
  }
  return 0;
}

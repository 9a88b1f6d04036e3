// Sparse operations as a user of SuiteSparse:GraphBLAS writes them, for tests/bench/sparse_results.py, which
// compiles this file when GraphBLAS is installed (libgraphblas-dev). Files and output are those of
// eigen_operations.cc.
//
//     graphblas_operations product|pairwise REPEAT FILE...
//
// One thread; rows of the result are sorted, as ours are (GrB_MATERIALIZE does what was left for later).
extern "C" {
#include <GraphBLAS.h>
}
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

static void check(GrB_Info info) {
  if (info != GrB_SUCCESS) throw std::runtime_error("GraphBLAS failed: " + std::to_string(info));
}

static GrB_Matrix make(GrB_Index rows, GrB_Index columns) {
  GrB_Matrix out = nullptr;
  check(GrB_Matrix_new(&out, GrB_FP64, rows, columns));
  check(GxB_Matrix_Option_set(out, GxB_FORMAT, GxB_BY_ROW));
  check(GxB_Matrix_Option_set(out, GxB_SPARSITY_CONTROL, GxB_SPARSE));
  return out;
}

static GrB_Matrix read(const char* path) {
  std::ifstream file(path);
  GrB_Index rows = 0, columns = 0, entries = 0;
  file >> rows >> columns >> entries;
  std::vector<GrB_Index> r(entries), c(entries);
  std::vector<double> values(entries);
  for (GrB_Index n = 0; n < entries; ++n) file >> r[n] >> c[n] >> values[n];
  const GrB_Matrix matrix = make(rows, columns);
  check(GrB_Matrix_build_FP64(matrix, r.data(), c.data(), values.data(), entries, GrB_PLUS_FP64));
  check(GrB_Matrix_wait(matrix, GrB_MATERIALIZE));
  return matrix;
}

static GrB_Matrix product(GrB_Matrix a, GrB_Matrix b) {
  GrB_Index rows = 0, columns = 0;
  check(GrB_Matrix_nrows(&rows, a));
  check(GrB_Matrix_ncols(&columns, b));
  const GrB_Matrix out = make(rows, columns);
  check(GrB_mxm(out, GrB_NULL, GrB_NULL, GrB_PLUS_TIMES_SEMIRING_FP64, a, b, GrB_NULL));
  check(GrB_Matrix_wait(out, GrB_MATERIALIZE));
  return out;
}

static GrB_Matrix pairwise(const std::vector<GrB_Matrix>& m) {
  GrB_Index rows = 0, columns = 0;
  check(GrB_Matrix_nrows(&rows, m[0]));
  check(GrB_Matrix_ncols(&columns, m[0]));
  GrB_Matrix total = m[0];
  for (std::size_t n = 1; n < m.size(); ++n) {
    GrB_Matrix next = make(rows, columns);
    check(GrB_Matrix_eWiseAdd_BinaryOp(next, GrB_NULL, GrB_NULL, GrB_PLUS_FP64, total, m[n], GrB_NULL));
    check(GrB_Matrix_wait(next, GrB_MATERIALIZE));
    if (total != m[0]) check(GrB_Matrix_free(&total));
    total = next;
  }
  return total;
}

int main(int argc, char** argv) try {
  if (argc < 5) return 2;
  const std::string operation = argv[1];
  check(GrB_init(GrB_NONBLOCKING));
  check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1));
  std::vector<GrB_Matrix> operands;
  for (int n = 3; n < argc; ++n) operands.push_back(read(argv[n]));
  GrB_Matrix result = nullptr;
  for (int repeat = std::atoi(argv[2]); repeat > 0; --repeat) {
    if (result != nullptr) check(GrB_Matrix_free(&result));
    const auto start = std::chrono::steady_clock::now();
    result = operation == "product" ? product(operands.at(0), operands.at(1)) : pairwise(operands);
    std::printf("%.9f ", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  GrB_Index entries = 0;
  check(GrB_Matrix_nvals(&entries, result));
  double sum = 0;
  check(GrB_Matrix_reduce_FP64(&sum, GrB_NULL, GrB_PLUS_MONOID_FP64, result, GrB_NULL));
  std::printf("\n%lu %.17g\n", static_cast<unsigned long>(entries), sum);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

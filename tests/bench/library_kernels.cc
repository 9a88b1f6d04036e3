// The yardstick's matrix kernels as a user of libraries writes them: Eigen for sparse times dense, OpenBLAS
// for dense products, SuiteSparse:GraphBLAS for the sampled product; each step a call of its own, one thread.
// tests/bench/yardstick.py compiles this file when all three are installed (libeigen3-dev, libopenblas-dev,
// libgraphblas-dev).
//
//     library_kernels KERNEL EXTENTS RUNS SECONDS POS CRD VALUES DENSE... RESULT
//
// KERNEL: SpMM, SDDMM, K1, K2, K3 or K4, as in yardstick.py. EXTENTS: i=5,j=7,k=16. B's files are those of
// csr (int32, int32, double), the dense operands are doubles in row-major order. Prints the seconds of each
// run and writes the result's values.
extern "C" {
#include <GraphBLAS.h>
}
#include <cblas.h>

#include "yardstick_files.h"

#include <Eigen/SparseCore>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, int>>;

static void check(GrB_Info info) {
  if (info != GrB_SUCCESS) throw std::runtime_error("GraphBLAS failed: " + std::to_string(info));
}

// left * right.
static void multiply(const Dense& left, const Dense& right, Dense& out) {
  const int m = static_cast<int>(left.rows()), n = static_cast<int>(right.cols()),
            k = static_cast<int>(left.cols());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, left.data(), k, right.data(), n, 0,
              out.data(), n);
}

// The products of rows of two dense matrices where B has entries, times B: a masked product and an
// elementwise one.
class Sampled {
 public:
  Sampled(const std::vector<int>& pos, const std::vector<int>& crd, const std::vector<double>& values,
          const Dense& left, const Dense& right)
      : rows_(static_cast<GrB_Index>(left.rows())),
        columns_(static_cast<GrB_Index>(right.rows())),
        entries_(values.size()) {
    const std::vector<GrB_Index> p(pos.begin(), pos.end()), c(crd.begin(), crd.end());
    check(GrB_Matrix_import_FP64(&b_, GrB_FP64, rows_, columns_, p.data(), c.data(), values.data(), p.size(),
                                 c.size(), values.size(), GrB_CSR_FORMAT));
    left_ = full(left);
    right_ = full(right);
  }
  // The values in B's order.
  void run(std::vector<double>& out) {
    GrB_Matrix product = nullptr, scaled = nullptr;
    check(GrB_Matrix_new(&product, GrB_FP64, rows_, columns_));
    check(GrB_Matrix_new(&scaled, GrB_FP64, rows_, columns_));
    check(GrB_mxm(product, b_, GrB_NULL, GrB_PLUS_TIMES_SEMIRING_FP64, left_, right_, GrB_DESC_ST1));
    check(GrB_Matrix_eWiseMult_BinaryOp(scaled, GrB_NULL, GrB_NULL, GrB_TIMES_FP64, product, b_, GrB_NULL));
    check(GrB_Matrix_wait(scaled, GrB_MATERIALIZE));
    std::vector<GrB_Index> rows(entries_), columns(entries_);
    GrB_Index count = entries_;
    check(GrB_Matrix_extractTuples_FP64(rows.data(), columns.data(), out.data(), &count, scaled));
    GrB_Matrix_free(&product);
    GrB_Matrix_free(&scaled);
  }

 private:
  static GrB_Matrix full(const Dense& dense) {
    GrB_Matrix out = nullptr;
    const auto rows = static_cast<GrB_Index>(dense.rows()), columns = static_cast<GrB_Index>(dense.cols());
    check(GrB_Matrix_new(&out, GrB_FP64, rows, columns));
    check(GxB_Matrix_Option_set(out, GxB_FORMAT, GxB_BY_ROW));
    std::vector<GrB_Index> r, c;
    for (GrB_Index i = 0; i < rows; ++i)
      for (GrB_Index j = 0; j < columns; ++j) r.push_back(i), c.push_back(j);
    check(GrB_Matrix_build_FP64(out, r.data(), c.data(), dense.data(), r.size(), GrB_PLUS_FP64));
    check(GrB_Matrix_wait(out, GrB_MATERIALIZE));
    return out;
  }
  GrB_Index rows_, columns_;
  std::size_t entries_;
  GrB_Matrix b_ = nullptr, left_ = nullptr, right_ = nullptr;
};

int main(int argc, char** argv) try {
  if (argc < 10) return 2;
  const std::string kernel = argv[1];
  auto n = extents_of(argv[2]);
  openblas_set_num_threads(1);
  check(GrB_init(GrB_NONBLOCKING));
  check(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 1));
  const auto pos = read<int>(argv[5]), crd = read<int>(argv[6]);
  const auto values = read<double>(argv[7]);
  std::vector<std::vector<double>> files;
  for (int a = 8; a + 1 < argc; ++a) files.push_back(read<double>(argv[a]));
  const auto dense = [&](std::size_t which, char rows, char columns) {
    return Dense(Eigen::Map<const Dense>(files.at(which).data(), n.at(rows), n.at(columns)));
  };
  const bool second_is_k = kernel == "K3";
  const Sparse b(n.at('i'), n.at(second_is_k ? 'k' : 'j'), static_cast<long>(values.size()), pos.data(),
                 crd.data(), values.data());

  std::vector<double> sampled(values.size());
  const Sparse weighted(b.rows(), b.cols(), static_cast<long>(values.size()), pos.data(), crd.data(),
                        sampled.data());
  Dense result, first;
  std::vector<Dense> with;
  const int runs = std::atoi(argv[3]);
  const double limit = std::atof(argv[4]);
  double spent = 0;
  const auto measure = [&](auto&& body) {
    for (int run = 0; run < runs && (run < 2 || spent < limit); ++run) {
      const auto start = std::chrono::steady_clock::now();
      body();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      spent += took.count();
      std::printf("%.9f ", took.count());
    }
  };
  if (kernel == "SpMM") {
    const Dense c = dense(0, 'j', 'k');
    result.resize(n['i'], n['k']);
    measure([&] { result.noalias() = b * c; });
  } else if (kernel == "SDDMM") {
    Sampled sample(pos, crd, values, dense(0, 'i', 'k'), dense(1, 'j', 'k'));
    measure([&] { sample.run(sampled); });
  } else if (kernel == "K1" || kernel == "K2") {
    Sampled sample(pos, crd, values, dense(0, 'i', 'k'), dense(1, 'j', 'k'));
    const Dense e = dense(2, 'j', 'l');
    if (kernel == "K1") {
      result.resize(n['i'], n['l']);
      measure([&] {
        sample.run(sampled);
        result.noalias() = weighted * e;
      });
    } else {
      const Dense f = dense(3, 'l', 'm');
      first.resize(n['i'], n['l']);
      result.resize(n['i'], n['m']);
      measure([&] {
        sample.run(sampled);
        first.noalias() = weighted * e;
        multiply(first, f, result);
      });
    }
  } else if (kernel == "K3") {
    const Dense c = dense(0, 'k', 'j'), d = dense(1, 'k', 'j'), e = dense(2, 'j', 'l');
    Dense both(n['k'], n['j']);
    first.resize(n['i'], n['j']);
    result.resize(n['i'], n['l']);
    measure([&] {
      both.noalias() = c.cwiseProduct(d);
      first.noalias() = b * both;
      multiply(first, e, result);
    });
  } else if (kernel == "K4") {
    const Dense c = dense(0, 'j', 'k'), d = dense(1, 'k', 'l');
    first.resize(n['i'], n['k']);
    result.resize(n['i'], n['l']);
    measure([&] {
      first.noalias() = b * c;
      multiply(first, d, result);
    });
  } else {
    return 2;
  }
  std::printf("\n");
  std::ofstream out(argv[argc - 1], std::ios::binary);
  if (kernel == "SDDMM")
    out.write(reinterpret_cast<const char*>(sampled.data()),
              static_cast<std::streamsize>(sampled.size() * sizeof(double)));
  else
    out.write(reinterpret_cast<const char*>(result.data()),
              static_cast<std::streamsize>(result.size() * sizeof(double)));
  return out.good() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

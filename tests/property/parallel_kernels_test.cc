#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/threaded_kernel.h"

// Phases whose threads write the same elements, and phases with iterations that are cut, run by the client on
// several threads.
namespace schaas {
namespace {

using client::ExecutionOptions;
using test_support::ThreadedKernel;
using Folding = ExecutionOptions::Folding;

struct Case {
  const char* name;
  const char* expression;
  std::map<std::string, std::string> formats;
  const char* value_type = "f64";
  bool signs = true;
  const char* trace = "linear";
  bool arrays = true;  ///< threads or parts get arrays of their own when they must
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"column_sums", "y(j) = B(i,j)", {{"B", "csr"}}},
      {"column_sums_f32", "y(j) = B(i,j) * x(i)", {{"B", "dcsr"}}, "f32"},
      {"scalar", "s = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csr"}}},
      {"greatest", "y(j) = max(i)(B(i,j))", {{"B", "csr"}}},
      {"least", "y(j) = min(i)(B(i,j))", {{"B", "csr"}}},
      {"products", "y(j) = prod(i)(B(i,j))", {}, "f64", true, "reorder(order={i,j})"},
      {"some", "y(j) = or(i)(B(i,j) > 1)", {{"B", "csr"}}},
      {"all", "y(j) = and(i)(B(i,j) != 0)", {}, "f64", true, "reorder(order={i,j})"},
      {"atomic_sums",
       "y(j) = B(i,j)",
       {{"B", "csr"}},
       "f32",
       true,
       "parallelize(loop=i, races=atomics)",
       false},
      {"atomic_rows",
       "A(j,r) = B(i,j) * C(i,r)",
       {{"B", "csr"}},
       "f64",
       true,
       "reorder(order={i,j,r}); parallelize(loop=i, races=atomics)",
       false},
      {"atomic_least",
       "y(j) = min(i)(where(B(i,j) != 0, B(i,j), inf))",
       {{"B", "csr"}},
       "f64",
       true,
       "parallelize(loop=i, races=atomics)",
       false},
      {"min_plus", "min-plus: y(j) = B(i,j) * x(i)", {{"B", "csr"}}},
      {"max_times", "max-times: y(j) = B(i,j) * x(i)", {{"B", "csr"}}, "f64", false},
      {"update", "y(j) += B(i,j) * x(i)", {{"B", "csr"}}},
      {"update_max", "y(j) max= max(i)(B(i,j))", {{"B", "csr"}}},
      {"another_mode",
       "A(j,r) = B(i,j,k) * C(i,r) * D(k,r)",
       {{"B", "csf"}},
       "f64",
       true,
       "reorder(order={i,j,k,r})"},
      {"shared_temporary", "t(j) = B(i,j); y(i) = C(i,j) * t(j)", {{"B", "csr"}, {"C", "csr"}}},
      {"row_sums", "y(i) = B(i,j) * x(j)", {{"B", "csr"}}},
      {"few_row_sums", "y(i) = B(i,j) * x(j)", {{"B", "dcsr"}}, "f32"},
      {"rows", "A(i,r) = B(i,j) * C(j,r)", {{"B", "csr"}}},
      {"slices", "A(i,r) = B(i,j,k) * C(j,r) * D(k,r)", {{"B", "csf"}}},
      {"greatest_of_rows", "max-times: y(i) = B(i,j) * x(j)", {{"B", "csr"}}, "f64", false},
      {"common_entries", "y(i) = B(i,j) * C(i,j)", {{"B", "csr"}, {"C", "csr"}}},
      {"rows_update", "y(i) += B(i,j) * x(j)", {{"B", "csr"}}},
      {"columns_of_rows", "A(r,i) = B(i,j) * C(j,r)", {{"B", "csr"}}, "f64", true, "reorder(order={i,j,r})"},
      {"fused_rows",
       "A(i,r) = B(i,j) * C(j,k) * D(k,r)",
       {{"B", "csr"}},
       "f64",
       true,
       "reorder(order={i,j,k,r}); loopfuse(loc=2, pol=left)"},
      {"scalar_per_entry",
       "A(i,r) = B(i,j) * C(i,k) * D(j,k) * E(j,r)",
       {{"B", "csr"}},
       "f64",
       true,
       "reorder(order={i,j,k,r}); loopfuse(loc=3, pol=left)"},
      {"own_elements", "A(i,j) = B(i,j) * C(i,k) * D(j,k)", {{"B", "csr"}}, "f64", true, "linear", false},
      {"two_loops", "A(i,j) = c(i) * d(j)", {}, "f64", true, "collapse(loop=i)", false},
      {"two_loops_sum", "y(i) = c(i,j) * d(j)", {}, "f64", true, "collapse(loop=i)"},
      {"entries_of_rows", "y(i) = B(i,j) * x(j)", {{"B", "csr"}}, "f64", true, "pos(loop=j)"},
      {"entries_of_few_rows",
       "A(i,r) = B(i,j) * C(j,r)",
       {{"B", "dcsr"}},
       "f32",
       true,
       "reorder(order={i,j,r}); pos(loop=j)"},
      {"entries_of_fibers",
       "A(i,r) = B(i,j,k) * C(j,r) * D(k,r)",
       {{"B", "csf"}},
       "f64",
       true,
       "reorder(order={i,j,k,r}); pos(loop=k)"},
      {"entries_atomic",
       "y(i) = B(i,j) * x(j)",
       {{"B", "csr"}},
       "f64",
       true,
       "pos(loop=j); parallelize(loop=i, races=atomics)",
       false},
      {"entries_own", "A(i,j) = B(i,j) * C(i,k) * D(j,k)", {{"B", "csr"}}, "f64", true, "pos(loop=j)", false},
      {"shared_scalar", "y(i) = x(i) / sum(j)(c(j))", {}, "f64", false},
  };
  return all;
}

ThreadedKernel::Shape shape_of(const Case& each) {
  return {{{"i", 40}, {"j", 27}, {"k", 9}, {"r", 5}}, 0.2, each.signs};
}

problem::ProblemText text_of(const Case& each) {
  problem::ProblemText text;
  text.expression = each.expression;
  text.formats = each.formats;
  text.value_type = each.value_type;
  return text;
}

bool atomic(const Case& each) { return std::string(each.trace).find("atomics") != std::string::npos; }

class Folds : public ::testing::TestWithParam<Case> {};

TEST_P(Folds, ComputeWhatTheOracleSaysOnAnyNumberOfThreads) {
  ThreadedKernel kernel(text_of(GetParam()), GetParam().trace, shape_of(GetParam()), 11);
  for (const int threads : {1, 2, 3, 8}) {
    ExecutionOptions options;
    options.threads = threads;
    for (const auto folding : {Folding::always, Folding::when_it_pays, Folding::never}) {
      options.folding = folding;
      const auto outcome = kernel.run(options);
      EXPECT_EQ(outcome.error, "") << threads << " threads";
      if (folding != Folding::when_it_pays) {
        EXPECT_EQ(outcome.folding_bytes > 0, folding == Folding::always && GetParam().arrays);
      }
    }
  }
}

bool same_bits(const client::DenseTensor& a, const client::DenseTensor& b) {
  if (a.size() != b.size()) return false;
  for (std::int64_t e = 0; e < a.size(); ++e) {
    const double x = a.at(e), y = b.at(e);
    if (std::memcmp(&x, &y, sizeof x) != 0) return false;
  }
  return true;
}

TEST_P(Folds, AreTheSameForTheSameThreads) {
  if (atomic(GetParam())) GTEST_SKIP() << "the order of atomic folds is chance";
  ThreadedKernel kernel(text_of(GetParam()), GetParam().trace, shape_of(GetParam()), 12);
  ExecutionOptions options;
  options.threads = 3;
  options.folding = Folding::always;
  const auto first = kernel.run(options);
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(same_bits(first.result, kernel.run(options).result));
}

TEST_P(Folds, DoNotDependOnTheThreadsWhenAskedTo) {
  if (atomic(GetParam())) GTEST_SKIP() << "the order of atomic folds is chance";
  ThreadedKernel kernel(text_of(GetParam()), GetParam().trace, shape_of(GetParam()), 13);
  ExecutionOptions options;
  options.deterministic = true;
  options.threads = 1;
  const auto first = kernel.run(options);
  EXPECT_EQ(first.error, "");
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    const auto outcome = kernel.run(options);
    EXPECT_TRUE(same_bits(first.result, outcome.result)) << threads << " threads";
    EXPECT_EQ(first.folding_bytes, outcome.folding_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(ParallelKernels, Folds, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ParallelKernels, CutTheRowThatHoldsMostEntries) {
  problem::ProblemText text;
  text.expression = "A(i,r) = B(i,j) * C(j,r)";
  text.formats = {{"B", "csr"}};
  ThreadedKernel kernel(text, "linear", {{{"i", 300}, {"j", 4000}, {"r", 6}}, 0.001}, 15);
  ExecutionOptions options;
  for (const int threads : {1, 2, 8}) {
    options.threads = threads;
    const auto outcome = kernel.run(options);
    EXPECT_EQ(outcome.error, "");
    // One row of 4,000 entries among some 5,000: parts of at least 256, of one row of six numbers (64 bytes)
    // each.
    const std::int64_t parts = threads == 1 ? 0 : 16;
    EXPECT_EQ(outcome.folding_bytes, 64 * parts) << threads << " threads";
  }
}

TEST(ParallelKernels, FoldWhereItPays) {
  ExecutionOptions options;
  options.threads = 2;
  const auto bytes = [&](const char* expression, ThreadedKernel::Shape shape) {
    problem::ProblemText text;
    text.expression = expression;
    text.formats = {{"B", "csr"}};
    const auto outcome = ThreadedKernel(text, "linear", shape, 14).run(options);
    EXPECT_EQ(outcome.error, "");
    return outcome.folding_bytes;
  };
  // 300 rows of about 6 entries: 24 pieces for the one sum, one more array for 40 sums, none for 2,000.
  EXPECT_EQ(bytes("s = B(i,j)", {{{"i", 300}, {"j", 40}}, 0.15}), 23 * 8);
  EXPECT_EQ(bytes("y(j) = B(i,j)", {{{"i", 300}, {"j", 40}}, 0.15}), 1 * 40 * 8);
  EXPECT_EQ(bytes("y(j) = B(i,j)", {{{"i", 10}, {"j", 2000}}, 0.001}), 0);
  options.folding_bytes = 100;
  EXPECT_EQ(bytes("y(j) = B(i,j)", {{{"i", 300}, {"j", 40}}, 0.15}), 0);
}

}  // namespace
}  // namespace schaas

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/dense_oracle.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/packed_tensor.h"
#include "tests/support/problem_of.h"
#include "tests/support/random_tensor.h"

// The tools the other tests trust are tested too: an oracle that cannot say no proves nothing.
namespace schaas::test_support {
namespace {

TEST(DenseOracle, MultipliesTwoMatricesByHand) {
  const auto problem = problem_of("A(i,l) = B(i,j) * C(j,l)", {});
  const DenseTensor b{{2, 2}, {1, 2, 3, 4}};
  const DenseTensor c{{2, 3}, {1, 0, -1, 0, 1, 2}};
  const auto result = evaluate(problem.statement, {{"B", b}, {"C", c}}, {{"i", 2}, {"j", 2}, {"l", 3}});
  EXPECT_EQ(result.value.values, (std::vector<double>{1, 2, 3, 3, 4, 5}));
  EXPECT_EQ(result.magnitude.values, (std::vector<double>{1, 2, 5, 3, 4, 11}));
}

TEST(DenseOracle, ScalarsHaveOneValue) {
  const auto problem = problem_of("a = b * C(i)", {});
  const auto result = evaluate(problem.statement, {{"b", {{}, {2}}}, {"C", {{3}, {1, 2, 3}}}}, {{"i", 3}});
  EXPECT_EQ(result.value.values, std::vector<double>{12});
}

TEST(DenseOracle, ErrorsAreRelativeToTheTermsAndNeverHidden) {
  const Evaluated want{{{3}, {1, 0, 0}}, {{3}, {2, 0, 4}}};
  EXPECT_EQ(relative_error({{3}, {1, 0, 0}}, want), 0);
  EXPECT_EQ(relative_error({{3}, {1.5, 0, 0}}, want), 0.25);
  EXPECT_EQ(relative_error({{3}, {1, 0, -1}}, want), 0.25);
  EXPECT_EQ(relative_error({{3}, {1, 1e-300, 0}}, want), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({{3}, {1, 0, std::numeric_limits<double>::quiet_NaN()}}, want),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({{2}, {1, 0}}, want), std::numeric_limits<double>::infinity());
}

DenseTensor evaluated(const std::string& program, const std::map<std::string, DenseTensor>& operands,
                      const Extents& extents) {
  return evaluate(problem_of(program, {}).program(), operands, extents).value;
}

TEST(DenseOracle, ComputesWithComplexNumbersByHand) {
  const DenseTensor x{{2}, {1, 3}, {2, 0}}, y{{2}, {0, 1}, {1, -1}};  // 1+2i, 3 and i, 1-i
  const std::map<std::string, DenseTensor> operands{{"x", x}, {"y", y}};
  const auto found = [&](const std::string& expression) {
    const DenseTensor result = evaluated("z(i) = " + expression, operands, {{"i", 2}});
    return std::vector<std::complex<double>>{result.number(0), result.number(1)};
  };
  using Numbers = std::vector<std::complex<double>>;
  EXPECT_EQ(found("x(i) * y(i)"), (Numbers{{-2, 1}, {3, -3}}));
  EXPECT_EQ(found("x(i) - y(i)"), (Numbers{{1, 1}, {2, 1}}));
  EXPECT_EQ(found("x(i) / y(i)"), (Numbers{{2, -1}, {1.5, 1.5}}));
  EXPECT_EQ(found("conj(x(i)) + imag(y(i))"), (Numbers{{2, -2}, {2, 0}}));
  EXPECT_EQ(found("(x(i) == 3) + not(y(i))"), (Numbers{0, 1}));
  EXPECT_EQ(evaluated("s = x(i) * conj(x(i))", operands, {{"i", 2}}).number(0), 14.0);
  const Evaluated want{{{1}, {1}, {2}}, {{1}, {4}}};
  EXPECT_EQ(relative_error({{1}, {1}, {2}}, want), 0);
  EXPECT_EQ(relative_error({{1}, {1}, {3}}, want), 0.25);
  EXPECT_EQ(relative_error({{1}, {1}}, want), 0.5);
}

TEST(PackedTensor, HoldsImaginaryParts) {
  std::mt19937_64 random(1);
  problem::ProblemText text;
  text.expression = "y(i) = B(i,j)";
  for (const char* type : {"c64", "c128"}) {
    for (const char* format : {"dense", "csr", "coo", "dcsr"}) {
      text.value_type = type;
      text.formats["B"] = format;
      const auto problem = problem::build(text).value();
      const RandomTensor tensor = random_input(problem, {{"i", 7}, {"j", 9}}, random).operands.at("B");
      EXPECT_EQ(pack(tensor, problem.formats.at("B"), problem).unpack().imaginary, tensor.dense.imaginary);
    }
  }
}

TEST(DenseOracle, EvaluatesProgramsByHand) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const DenseTensor b{{2, 2}, {1, 2, 3, 4}};
  const DenseTensor x{{2}, {10, -1}};
  const Extents extents{{"i", 2}, {"j", 2}};
  // Implied sums go around the terms that have the index, and around no others.
  EXPECT_EQ((std::vector<double>{18, 25}),
            evaluated("y(i) = x(i) + B(i,j) * x(j)", {{"B", b}, {"x", x}}, extents).values);
  EXPECT_EQ((std::vector<double>{2, 4}), evaluated("y(i) = max(j)(B(i,j))", {{"B", b}}, extents).values);
  EXPECT_EQ((std::vector<double>{1, 2, 1, -1}), evaluated("Y(i,j) = where(B(i,j) < 3, B(i,j), x(j) / 10)",
                                                          {{"B", b}, {"x", {{2}, {10, -10}}}}, extents)
                                                    .values);
  EXPECT_EQ((std::vector<double>{4, 6}), evaluated("T(j) = B(i,j); y(i) = T(i)", {{"B", b}}, extents).values);
  EXPECT_EQ((std::vector<double>{1, 3}),
            evaluated("min-plus: y(i) = B(i,j) * x(j)",
                      {{"B", {{2, 2}, {inf, 2, 3, inf}}}, {"x", {{2}, {0, -1}}}}, extents)
                .values);
}

TEST(DenseOracle, LeavesOpenWhatHangsOnTheOrderOfOperations) {
  const auto open = [](const std::string& program, const std::vector<double>& x) {
    const Extents extents{{"i", static_cast<std::int64_t>(x.size())}};
    const DenseTensor tensor{{static_cast<std::int64_t>(x.size())}, x};
    const auto result = evaluate(problem_of(program, {}).program(), {{"x", tensor}}, extents);
    return result.value.values.size() - determined(result);
  };
  EXPECT_EQ(1U, open("y(i) = 0 / x(i)", {0, 2}));
  EXPECT_EQ(1U, open("y(i) = (1 / (x(i) - x(i))) * 0 + x(i)", {3}));
  EXPECT_EQ(0U, open("y(i) = x(i) < 0.5", {0.5, 2}));
  EXPECT_EQ(1U, open("y(i) = x(i) / 3 * 3 < 0.5", {0.5, 2}));
  // Infinity times a sum, which a schedule may distribute.
  EXPECT_EQ(1U, open("y(i) = x(i) * (x(i) - 1)", {std::numeric_limits<double>::infinity(), 2}));
}

TEST(DenseOracle, LeavesOpenWhatComparesIntegersThatWrapAround) {
  const auto open = [](const std::string& program) {
    const auto result =
        evaluate(problem_of(program, {}).program(), {{"x", {{2}, {3, 300}}}}, {{"i", 2}}, nullptr, 1e4);
    return result.value.values.size() - determined(result);
  };
  EXPECT_EQ(0U, open("y(i) = x(i) * 3"));
  EXPECT_EQ(1U, open("y(i) = x(i) * x(i)"));
  EXPECT_EQ(1U, open("y(i) = where(x(i) * x(i) > 5, x(i), 1)"));
  EXPECT_EQ(1U, open("y(i) = where(x(i) * x(i), x(i), 1)"));
  EXPECT_EQ(1U, open("y(i) = relu(x(i) * x(i)) < 1"));
  EXPECT_EQ(1U, open("y(i) = or(x(i) * x(i), 0)"));
}

TEST(PackedTensor, TellsWhatAKernelLeftUnwritten) {
  const auto problem = problem_of("A(i,j) = B(i,j)", {{"A", "csr"}});
  PackedTensor result = empty_result(problem, {{"i", 2}, {"j", 3}});
  EXPECT_EQ("level 1 is not allocated", result.structure_error());
  result.allocate({2}, 0);
  EXPECT_EQ("position 1 of level 1 is not written", result.structure_error());
  auto* pos = const_cast<std::int64_t*>(static_cast<const std::int64_t*>(result.abi()->levels[1].pos));
  auto* crd = const_cast<std::int64_t*>(static_cast<const std::int64_t*>(result.abi()->levels[1].crd));
  pos[1] = 1;
  EXPECT_EQ("coordinate 0 of level 1 is not written", result.structure_error());
  crd[0] = 3;
  EXPECT_EQ("coordinate 0 of level 1 is 3 after -1 of 3", result.structure_error());
  crd[0] = 2;
  crd[1] = 0;
  EXPECT_EQ("", result.structure_error());
}

TEST(PackedTensor, CsrOfASmallMatrix) {
  const auto problem = problem_of("a = B(i,j)", {{"B", "csr"}});
  const RandomTensor tensor{{{3, 2}, {0, 5, 0, 0, 7, 0}}, {false, true, false, false, true, true}};
  const PackedTensor packed = pack(tensor, problem.formats.at("B"), problem);
  const schaas_tensor& abi = *packed.abi();
  const auto width = abi.levels[1].index_bits;
  ASSERT_EQ(width, problem.position_bits);
  const auto at = [&](const void* array, int n) {
    return width == 32 ? static_cast<const std::int32_t*>(array)[n]
                       : static_cast<const std::int64_t*>(array)[n];
  };
  EXPECT_EQ(abi.order, 2);
  EXPECT_EQ(abi.levels[0].entries, 3);
  EXPECT_EQ(abi.levels[1].entries, 3);
  for (const auto& [n, position] : {std::pair(0, 0), {1, 1}, {2, 1}, {3, 3}}) {
    EXPECT_EQ(at(abi.levels[1].pos, n), position);
  }
  for (const auto& [n, coordinate] : {std::pair(0, 1), {1, 0}, {2, 1}}) {
    EXPECT_EQ(at(abi.levels[1].crd, n), coordinate);
  }
  const auto* values = static_cast<const double*>(abi.values);
  EXPECT_EQ((std::vector<double>{values[0], values[1], values[2]}), (std::vector<double>{5, 7, 0}));
}

TEST(PackedTensor, UnpacksToWhatWasPackedInEveryFormat) {
  std::mt19937_64 random(3);
  const std::vector<std::string> formats{"dense,dense,dense:2,0,1",
                                         "dense,compressed,dense:0,2,1",
                                         "compressed,compressed,dense",
                                         "compressed,dense,compressed:1,2,0",
                                         "compressed,compressed,compressed:2,1,0",
                                         "dense,dense,compressed"};
  for (const auto& format : formats) {
    for (const double density : {0.0, 0.2, 0.7, 1.0}) {
      const auto problem = problem_of("a = B(i,j,k)", {{"B", format}});
      const RandomTensor tensor = random_tensor({4, 3, 5}, {density, 0.2}, random);
      EXPECT_EQ(pack(tensor, problem.formats.at("B"), problem).unpack().values, tensor.dense.values)
          << format;
    }
  }
}

TEST(RandomTensor, StoresEveryNonzeroAndSomeZeros) {
  std::mt19937_64 random(5);
  const RandomTensor tensor = random_tensor({50, 50}, {0.5, 0.3}, random);
  std::size_t zeros_stored = 0;
  for (std::size_t n = 0; n < tensor.stored.size(); ++n) {
    if (!tensor.stored[n]) {
      ASSERT_EQ(tensor.dense.values[n], 0);
    }
    if (tensor.stored[n] && tensor.dense.values[n] == 0) ++zeros_stored;
  }
  EXPECT_GT(zeros_stored, 200u);
  EXPECT_LT(zeros_stored, 600u);
}

// Hand-written kernels for the runner: y(i) += x(i), rows in parallel, with one shared array and a workspace.
std::int64_t rows(const schaas_tensor* const* args) { return args[0]->extents[0]; }
std::int64_t row_bytes(const schaas_tensor* const* args, std::int32_t) { return 8 * args[0]->extents[0]; }
std::int64_t one_value(const schaas_tensor* const*) { return 8; }

std::int32_t add(const schaas_tensor* const* args, void* const* shared, void* workspace, std::int64_t begin,
                 std::int64_t end) {
  auto* visits = static_cast<std::int64_t*>(shared[0]);
  auto* sum = static_cast<double*>(workspace);
  for (std::int64_t n = begin; n < end; ++n) {
    if (visits[n]++ != 0) return SCHAAS_ERROR_ARGUMENT;  // a row twice
    *sum += static_cast<const double*>(args[1]->values)[n];
    static_cast<double*>(args[0]->values)[n] += *sum;
    *sum = 0;
  }
  return SCHAAS_OK;
}

std::int32_t write_behind(const schaas_tensor* const*, void* const*, void* workspace, std::int64_t,
                          std::int64_t) {
  static_cast<double*>(workspace)[1] = 1;
  return SCHAAS_OK;
}

std::int32_t fail(const schaas_tensor* const*, void* const*, void*, std::int64_t, std::int64_t) {
  return SCHAAS_ERROR_ARGUMENT;
}

std::string run_by_hand(schaas_phase_run phase, DenseTensor* result) {
  const auto problem = problem_of("y(i) = x(i)", {});
  std::mt19937_64 random(7);
  const RandomTensor x{{{40}, std::vector<double>(40, 1.0)}, std::vector<bool>(40, true)};
  const PackedTensor packed = pack(x, problem.formats.at("x"), problem);
  const PackedTensor y = zero_result(problem, {{"i", 40}});
  const schaas_phase phases[] = {{phase, rows, 1, -1, 0, SCHAAS_STEP_COMPUTE, SCHAAS_FOLD_NONE, -1, nullptr,
                                  nullptr, nullptr, nullptr, SCHAAS_FOLD_NONE, nullptr, 0}};
  const schaas_kernel_descriptor kernel{SCHAAS_KERNEL_ABI_VERSION,
                                        2,
                                        1,
                                        1,
                                        phases,
                                        row_bytes,
                                        one_value,
                                        "",
                                        "",
                                        "",
                                        "",
                                        0,
                                        nullptr,
                                        0,
                                        0,
                                        0,
                                        nullptr,
                                        nullptr,
                                        0,
                                        0,
                                        nullptr,
                                        0,
                                        nullptr};
  const std::string error = run(kernel, {y.abi(), packed.abi()}, Cuts::random, random);
  if (result) *result = y.unpack();
  return error;
}

TEST(KernelRunner, RunsEveryRowOnce) {
  DenseTensor result;
  EXPECT_EQ(run_by_hand(add, &result), "");
  EXPECT_EQ(result.values, std::vector<double>(40, 1.0));
}

TEST(KernelRunner, TellsWhatWentWrong) {
  EXPECT_EQ(run_by_hand(write_behind, nullptr), "the kernel wrote behind a shared array or workspace");
  EXPECT_EQ(run_by_hand(fail, nullptr), "phase 0 returned 1");
}

TEST(KernelRunner, RefusesWhatIsNoKernel) { EXPECT_FALSE(LoadedKernel::load("not a shared object").ok()); }

}  // namespace
}  // namespace schaas::test_support

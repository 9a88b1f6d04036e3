#include "compiler/codegen/c_printer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <regex>
#include <set>

#include "compiler/codegen/c_text.h"
#include "compiler/codegen/runtime.h"
#include "compiler/codegen/short_indices.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/support/instruction_set.h"
#include "compiler/toolchain/toolchain.h"
#include "proto/gpu_abi.h"
#include "proto/kernel_abi.h"
#include "tests/support/kernel_runner.h"

// C printed from texts of loop IR, compiled by the system's compiler and run. Lowering takes no part.
// Functions and monoids are compared with operators::evaluate, as scalar, simd and vector loops, since each
// shape is printed in its own way. Sorting and compaction are compared with std::sort and std::set on random
// lists (fixed seeds), of lengths below and above their thresholds. Declarations inside of kernels must be
// those of proto/kernel_abi.h and proto/gpu_abi.h, word by word.
namespace schaas::codegen {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Typedefs of a header: comments out, white space to one blank.
std::string declarations(std::string text) {
  text = std::regex_replace(text, std::regex(R"(/\*([^*]|\*[^/])*\*/)"), " ");
  std::string out;
  static const std::regex one(R"(typedef (struct \w+ \{[^}]*\} \w+|[^;]*);)");
  for (std::sregex_iterator at(text.begin(), text.end(), one), end; at != end; ++at) out += at->str() + "\n";
  out = std::regex_replace(out, std::regex(R"([ \t\n]+)"), " ");
  return out;
}

TEST(Codegen, PrintedDeclarationsAreThoseOfTheAbiHeader) {
  const std::string header = declarations(read_file(SCHAAS_SOURCE_DIR "/proto/kernel_abi.h"));
  ASSERT_NE(std::string::npos, header.find("schaas_kernel_descriptor"));
  EXPECT_EQ(header, declarations(std::string(abi_declarations())));
  EXPECT_EQ(13, SCHAAS_KERNEL_ABI_VERSION);  // print_descriptor writes 13
  EXPECT_EQ(0, SCHAAS_F64);
  EXPECT_EQ(1, SCHAAS_F32);
  EXPECT_EQ(1, SCHAAS_ERROR_ARGUMENT);
}

TEST(Codegen, PrintedDeclarationsAreThoseOfTheGpuAbiHeader) {
  const std::string header = declarations(read_file(SCHAAS_SOURCE_DIR "/proto/gpu_abi.h"));
  ASSERT_NE(std::string::npos, header.find("schaas_gpu_descriptor"));
  EXPECT_EQ(header, declarations(std::string(gpu_abi_declarations())));
  EXPECT_EQ(2, SCHAAS_GPU_ABI_VERSION);  // print_descriptor writes 2
  EXPECT_EQ("schaas_gpu_kernel", std::string(SCHAAS_GPU_SYMBOL));
}

TEST(Codegen, StringLiteralsAreEscaped) {
  EXPECT_EQ("\"a\\\"b\\\\c\"", c_literal("a\"b\\c"));
  EXPECT_EQ("\"one\\n\"\n    \"two\"", c_literal("one\ntwo"));
  EXPECT_EQ("\"\\077\\077/\"", c_literal("?\?/"));  // no trigraph
  EXPECT_EQ("\"\\3031\"", c_literal("\xc3"
                                    "1"));
}

loop_ir::Kernel parsed(const std::string& text) {
  auto kernel = loop_ir::parse(text);
  EXPECT_TRUE(kernel.ok()) << support::render(kernel.error());
  return *kernel;
}

/// Returns the text of a kernel that clears a row and adds a vector to it in each iteration of a loop.
std::string adds_to_row(const std::string& attribute, const std::string& more) {
  return R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0
  array A: value = values 0 written
  array B: value = values 1
  result written
  phase range n {
    for i in begin .. end {
      let o: index = (i * n)
      fill A from (i * n) count n with 0.0)" +
         attribute + R"(
      for j in 0 .. n {
        for simd k in 0 .. n {
          A[(o + k)] += B[(o + k)]
        }
)" + more +
         R"(      }
    }
  }
})";
}

TEST(Codegen, RowsAreKeptThatNothingElseAccesses) {
  const auto keeps = [](const std::string& attribute, const std::string& more) {
    const auto kernel = parsed(adds_to_row(attribute, more));
    return print_c(kernel, {"", "", "", ""}).find("A_row0") != std::string::npos;
  };
  EXPECT_TRUE(keeps(" row", ""));
  EXPECT_TRUE(keeps(" row", "for simd l in 0 .. n { A[(o + l)] += 2.0 }\n"));
  EXPECT_FALSE(keeps("", ""));
  EXPECT_FALSE(keeps(" row", "let x: value = A[o]\n")) << "an element is read";
  EXPECT_FALSE(keeps(" row", "A[(o + j)] += 1.0\n")) << "an element is added to by itself";
  EXPECT_FALSE(keeps(" row", "for simd l in 0 .. n { A[(o + l)] = 2.0 }\n")) << "elements are set";
  EXPECT_FALSE(keeps(" row", "for simd l in 0 .. j { A[(o + l)] += 2.0 }\n")) << "some elements are added to";
  EXPECT_FALSE(keeps(" row", "for simd l in 0 .. n { A[((o + j) + l)] += 2.0 }\n"))
      << "another row is added to";
  EXPECT_FALSE(keeps(" row", "for simd l in 0 .. n { A[(o + l)] += A[(o + l)] }\n")) << "the row is added";
}

/// A kernel whose operand and result are vectors of 8-byte numbers.
constexpr const char* scale = R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0 required 5
  array A: value = values 0 written
  array B: value = values 1
  array w: value = scratch count n written
  array w_2: value = scratch count 3 written
  array w_3: value = shared 0 count (n * 2) written
  phase range n parallel {
    for i in begin .. end {
      w_2[0] = B[i]
      A[i] += (B[i] * w_2[0])
    }
  }
}
)";

class Compiled : public ::testing::Test {
 protected:
  void load(const std::string& text, const KernelLabel& label) {
    const auto binary = toolchain::make_c_toolchain({})->compile_c(print_c(parsed(text), label), {}, {});
    ASSERT_TRUE(binary.ok()) << support::render(binary.error());
    auto loaded = test_support::LoadedKernel::load(*binary, label.symbol);
    ASSERT_TRUE(loaded.ok()) << support::render(loaded.error());
    kernel_ = std::make_unique<test_support::LoadedKernel>(*loaded);
  }
  const schaas_kernel_descriptor& descriptor() const { return kernel_->descriptor(); }

  schaas_tensor vector(std::vector<double>& values) {
    return {1, SCHAAS_F64, &extent_, &mode_order_, &level_, values.data()};
  }

  std::unique_ptr<test_support::LoadedKernel> kernel_;
  std::int64_t extent_ = 5;
  std::int32_t mode_order_ = 0;
  schaas_level level_{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 5};
};

TEST(Codegen, OpensWithTheBannerAndShowsEachNestAsComment) {
  KernelLabel label{"abc", "trace", "x86-64-v3", "problem"};
  label.banner = "A(i) += 2 * B(i)\nformat A dense:0\n";
  const std::string text = print_c(parsed(scale), label);
  EXPECT_EQ(text.rfind("// A(i) += 2 * B(i)\n// format A dense:0\n#include", 0), 0U);
  const std::string nest =
      "// for i in begin .. end {\n//   w_2[0] = B[i]\n//   A[i] += (B[i] * w_2[0])\n// }\n"
      "static ALWAYS_INLINE int32_t phase_0_of(";
  EXPECT_NE(text.find(nest), std::string::npos);
}

TEST_F(Compiled, DescriptorSaysWhatTheLabelSays) {
  load(scale, {"abc", "reorder(path={}, order={i})", "x86-64-v3", "line \"one\"\nline two\n"});
  EXPECT_EQ(SCHAAS_KERNEL_ABI_VERSION, descriptor().abi_version);
  EXPECT_EQ(2, descriptor().argument_count);
  EXPECT_EQ(1, descriptor().phase_count);
  EXPECT_EQ(1, descriptor().shared_count);
  EXPECT_STREQ("abc", descriptor().key);
  EXPECT_STREQ("reorder(path={}, order={i})", descriptor().schedule);
  EXPECT_STREQ("x86-64-v3", descriptor().isa);
  EXPECT_STREQ("line \"one\"\nline two\n", descriptor().problem);
  EXPECT_EQ(1, descriptor().phases[0].parallel);
  EXPECT_EQ(-1, descriptor().phases[0].balance_arg);
}

// Turns of a loop side by side have names of their own.
TEST_F(Compiled, SeveralTurnsOfASumSeeTheNamesAroundThem) {
  load(R"(kernel f64 arguments 2 {
  extent n = argument 1 mode 0
  array A: value = values 0 written
  array B: value = values 1
  phase range n {
    let k_first: index = 7
    sum t
    for k in begin .. end {
      let has: index = (k_first <= k)
      t += choose(has, B[k], 100.0)
    }
    A[0] += t
  }
}
)",
       {"", "", "", ""});
  extent_ = 29;
  std::vector<double> a(29), b(29);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<double>(n);
  const schaas_tensor result = vector(a), operand = vector(b);
  const schaas_tensor* const arguments[] = {&result, &operand};
  ASSERT_EQ(SCHAAS_OK, descriptor().phases[0].run(arguments, nullptr, nullptr, 0, 29));
  EXPECT_EQ(a[0], (7 + 28) * 22 / 2 + 7 * 100);
}

// Iterations are side by side where no store reads the sum so far.
TEST_F(Compiled, SumsAndStoresOfOneLoopAreBothRight) {
  const auto text = [](const std::string& stored) {
    return R"(kernel f64 arguments 2 {
  extent n = argument 1 mode 0
  array A: value = values 0 written
  array B: value = values 1
  phase range n {
    sum t
    for k in begin .. end {
      t += B[k]
      A[((n - 1) - k)] += )" +
           stored + R"(
    }
    A[0] += t
  }
}
)";
  };
  extent_ = 29;
  for (const bool running : {false, true}) {
    load(text(running ? "(2.0 * t)" : "(2.0 * B[k])"), {"", "", "", ""});
    std::vector<double> a(29), b(29), expected(29);
    double sum = 0;
    for (std::size_t n = 0; n < b.size(); ++n) {
      b[n] = static_cast<double>(n * n);
      sum += b[n];
      expected[28 - n] = 2 * (running ? sum : b[n]);
    }
    expected[0] += sum;
    const schaas_tensor result = vector(a), operand = vector(b);
    const schaas_tensor* const arguments[] = {&result, &operand};
    ASSERT_EQ(SCHAAS_OK, descriptor().phases[0].run(arguments, nullptr, nullptr, 0, 29));
    EXPECT_EQ(a, expected);
  }
}

// Short rows as long as those before them are summed in another order; those before a thread's share count.
TEST_F(Compiled, SumsOfEqualRowsDoNotDependOnWhereAThreadBegins) {
  load(R"(kernel f64 arguments 3 {
  extent n_i = argument 0 mode 0 sparse
  array B_pos1: index64 = positions 1 level 1
  array B_crd1: index64 = coordinates 1 level 1
  array B: value = values 1
  array x: value = values 2
  array y: value = values 0 written
  result written
  phase range n_i parallel balance 1 level 1 {
    for i in begin .. end {
      sum t
      for pj in B_pos1[i] .. B_pos1[(i + 1)] entries of B_crd1 row i of B_pos1 {
        let j: index = B_crd1[pj]
        t += (B[pj] * x[j])
      }
      y[i] = t
    }
  }
}
)",
       {"", "", "", ""});
  std::mt19937_64 random(20261130);
  std::vector<std::int64_t> positions{0}, coordinates;
  extent_ = 60;
  for (std::int64_t row = 0; row < extent_; ++row)
    positions.push_back(positions.back() + (row % 20 == 11 ? 3 : 5 + row / 50));
  for (std::int64_t entry = 0; entry < positions.back(); ++entry)
    coordinates.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extent_)));
  const auto numbers = [&](std::size_t count) {
    std::vector<double> all(count);
    for (double& each : all) each = std::generate_canonical<double, 53>(random) - 0.5;
    return all;
  };
  std::vector<double> entries = numbers(coordinates.size()), x = numbers(60), whole(60), parts(60);
  const schaas_level levels[] = {level_,
                                 {SCHAAS_LEVEL_COMPRESSED, 64, positions.data(), coordinates.data(),
                                  static_cast<std::int64_t>(coordinates.size())}};
  const std::int64_t extents[] = {extent_, extent_};
  const std::int32_t modes[] = {0, 1};
  const schaas_tensor matrix{2, SCHAAS_F64, extents, modes, levels, entries.data()};
  std::int32_t flags = 0;
  void* const shared[] = {&flags};
  const auto run = [&](std::vector<double>& y, std::int64_t begin, std::int64_t end) {
    const schaas_tensor result = vector(y), factor = vector(x);
    const schaas_tensor* const arguments[] = {&result, &matrix, &factor};
    EXPECT_EQ(SCHAAS_OK, descriptor().phases[0].run(arguments, shared, nullptr, begin, end));
  };
  run(whole, 0, extent_);
  for (std::int64_t cut = 1; cut < extent_; ++cut) {
    run(parts, 0, cut);
    run(parts, cut, extent_);
    EXPECT_EQ(whole, parts) << "cut at row " << cut;
  }
}

// In order, side by side, and in lanes.
TEST_F(Compiled, PrefetchesPastTheEnd) {
  const std::string text = R"(kernel f64 arguments 2 {
  extent n = argument 1 mode 0
  array A: value = values 0 written
  array B: value = values 1
  phase range n {
    sum t
    for k in begin .. end {
      t += B[k]
      prefetch B[((k + n) * 100000000)]
    }
    for vector i in 0 .. n {
      sum t_2
      for k_2 in 0 .. n {
        t_2 += (B[k_2] * B[i])
        prefetch B[((k_2 + n) * 4)]
      }
      A[i] = t_2
    }
    prefetch A[-1]
    A[0] += t
  }
}
)";
  const std::string source = print_c(parsed(text), {"", "", "", ""});
  EXPECT_NE(source.find("__builtin_prefetch(B + ((k + n) * 100000000));"), std::string::npos);
  EXPECT_NE(source.find("__builtin_prefetch(B + ((k_2 + n) * 4));"), std::string::npos);
  load(text, {"", "", "", ""});
  extent_ = 29;
  std::vector<double> a(29), b(29);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<double>(n);
  const schaas_tensor result = vector(a), operand = vector(b);
  const schaas_tensor* const arguments[] = {&result, &operand};
  std::int32_t past_the_caches = 0;
  void* const shared[] = {&past_the_caches};
  ASSERT_EQ(SCHAAS_OK, descriptor().phases[0].run(arguments, shared, nullptr, 0, 29));
  EXPECT_EQ(a[0], 28 * 29 / 2);
  EXPECT_EQ(a[28], 28 * (28 * 29 / 2));
}

// Whole aligned vectors of a result may be stored by streaming stores; values do not show it.
class Streaming : public Compiled,
                  public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(Streaming, StoresTheSameValues) {
  const auto [type, isa] = GetParam();
  const std::string text = std::string("kernel ") + type + R"( arguments 2 {
  extent n = argument 0 mode 0
  array A: value = values 0 written
  array B: value = values 1
  array w: value = shared 0 count n written
  phase range 1 {
    for vector i in 0 .. n {
      A[i] = (B[i] * 2.0)
    }
  }
}
)";
  const std::string source = print_c(parsed(text), {"", "", "", ""});
  EXPECT_NE(source.find("STREAM_STORE(streaming, A + i"), std::string::npos);
  const auto binary = toolchain::make_c_toolchain({})->compile_c(source, {isa}, {});
  ASSERT_TRUE(binary.ok()) << support::render(binary.error());
  const auto loaded = test_support::LoadedKernel::load(*binary);
  ASSERT_TRUE(loaded.ok()) << support::render(loaded.error());
  EXPECT_EQ(1, loaded->descriptor().streams);
  const auto check = [&, only = std::string(type)](auto number) {
    using Number = decltype(number);
    alignas(64) Number to[80], from[80];
    for (const int offset : {0, 1, 8}) {
      for (const bool past : {false, true}) {
        for (int n = 0; n < 80; ++n) to[n] = -1, from[n] = static_cast<Number>(n);
        extent_ = 61;
        const std::int32_t code = only == "f64" ? SCHAAS_F64 : SCHAAS_F32;
        const schaas_tensor result{1, code, &extent_, &mode_order_, &level_, to + offset};
        const schaas_tensor operand{1, code, &extent_, &mode_order_, &level_, from};
        const schaas_tensor* const args[] = {&result, &operand};
        std::int32_t flag = past ? 1 : 0;
        void* const shared[] = {nullptr, &flag};
        ASSERT_EQ(SCHAAS_OK, loaded->descriptor().phases[0].run(args, shared, nullptr, 0, 1));
        for (int n = 0; n < 80; ++n) {
          const bool written = n >= offset && n < offset + 61;
          ASSERT_EQ(to[n], written ? static_cast<Number>(2 * (n - offset)) : -1)
              << offset << " " << past << " " << n;
        }
      }
    }
  };
  if (std::string(type) == "f64")
    check(double{});
  else
    check(float{});
}
INSTANTIATE_TEST_SUITE_P(Types, Streaming,
                         ::testing::Combine(::testing::Values("f64", "f32"),
                                            ::testing::Values("generic", "x86-64-v2", "x86-64-v3",
                                                              support::native_isa().c_str())));

TEST_F(Compiled, SizesArePaddedToCacheLines) {
  load(scale, {"", "", "", ""});
  std::vector<double> a(5), b(5);
  const schaas_tensor result = vector(a);
  const schaas_tensor operand = vector(b);
  const schaas_tensor* const args[] = {&result, &operand};
  EXPECT_EQ(64 + 64, descriptor().workspace_bytes(args));
  EXPECT_EQ(128, descriptor().shared_bytes(args, 0));
  EXPECT_EQ(0, descriptor().shared_bytes(args, 1));
  EXPECT_EQ(5, descriptor().phases[0].range(args));
}

TEST_F(Compiled, RunsARangeAndRefusesOtherArguments) {
  load(scale, {"", "", "", "", "another_symbol"});
  std::vector<double> a(5), b = {1, 2, 3, 4, 5};
  schaas_tensor result = vector(a);
  const schaas_tensor operand = vector(b);
  const schaas_tensor* const args[] = {&result, &operand};
  alignas(64) double workspace[16] = {};
  EXPECT_EQ(SCHAAS_OK, descriptor().phases[0].run(args, nullptr, workspace, 1, 3));
  EXPECT_EQ((std::vector<double>{0, 4, 9, 0, 0}), a);
  EXPECT_EQ(SCHAAS_OK, descriptor().phases[0].run(args, nullptr, workspace, 2, 2));
  EXPECT_EQ((std::vector<double>{0, 4, 9, 0, 0}), a);

  extent_ = 6;  // the kernel is for five
  EXPECT_EQ(SCHAAS_ERROR_ARGUMENT, descriptor().phases[0].run(args, nullptr, workspace, 0, 5));
  extent_ = 5;
  result.value_type = SCHAAS_F32;
  EXPECT_EQ(SCHAAS_ERROR_ARGUMENT, descriptor().phases[0].run(args, nullptr, workspace, 0, 5));
  EXPECT_EQ((std::vector<double>{0, 4, 9, 0, 0}), a);
}

/// A vector with one compressed level.
struct SparseVector {
  std::vector<std::int64_t> pos, crd;
  std::vector<double> values;
  schaas_level level{};

  /// After a copy.
  void point() { level = {SCHAAS_LEVEL_COMPRESSED, 64, pos.data(), crd.data(), pos.back()}; }
  SparseVector(std::vector<std::int64_t> coordinates, std::vector<double> numbers)
      : pos{0, static_cast<std::int64_t>(coordinates.size())},
        crd(std::move(coordinates)),
        values(std::move(numbers)) {}
};

/// Runs one-phase kernels whose result is a dense vector of doubles.
class Executed : public Compiled {
 protected:
  /// `body` is a phase's; argument 0 is A, dense; of operand n, sparse, the arrays are Bn_pos, Bn_crd, Bn.
  void compile(const std::string& body, std::size_t operands, const std::string& declarations = "") {
    std::string text = "kernel f64 arguments " + std::to_string(operands + 1) +
                       " {\n  extent n = argument 0 mode 0\n  array A: value = values 0 written\n";
    for (std::size_t n = 1; n <= operands; ++n) {
      const std::string id = std::to_string(n);
      text += "  array B" + id + "_pos: index64 = positions " + id + " level 0\n";
      text += "  array B" + id + "_crd: index64 = coordinates " + id + " level 0\n";
      text += "  array B" + id + ": value = values " + id + "\n";
    }
    text += declarations + "  phase range 1 {\n" + body + "\n  }\n}\n";
    const auto kernel = parsed(text);
    const auto verified = loop_ir::verify(kernel);
    EXPECT_TRUE(verified.ok()) << support::render(verified.error());
    EXPECT_EQ(loop_ir::print(kernel), loop_ir::print(parsed(loop_ir::print(kernel))));
    load(text, {"", "", "", ""});
  }

  std::vector<double> execute(std::vector<SparseVector> operands, std::int64_t extent, double initial = 0) {
    if (!kernel_) return {};
    extent_ = extent;
    level_.entries = extent;
    std::vector<double> result(static_cast<std::size_t>(extent), initial);
    std::vector<schaas_tensor> tensors{vector(result)};
    for (auto& operand : operands) {
      operand.point();
      tensors.push_back({1, SCHAAS_F64, &extent_, &mode_order_, &operand.level, operand.values.data()});
    }
    std::vector<const schaas_tensor*> arguments;
    for (const auto& tensor : tensors) arguments.push_back(&tensor);
    std::mt19937_64 random(1);
    EXPECT_EQ("", test_support::run(descriptor(), arguments, test_support::Cuts::none, random));
    return result;
  }

  std::vector<double> run(const std::string& body, const std::vector<SparseVector>& operands,
                          std::int64_t extent, const std::string& declarations = "", double initial = 0) {
    compile(body, operands.size(), declarations);
    return execute(operands, extent, initial);
  }
};

using Numbers = std::vector<double>;

SparseVector full(const std::vector<double>& numbers) {
  std::vector<std::int64_t> all(numbers.size());
  std::iota(all.begin(), all.end(), 0);
  return {all, numbers};
}

constexpr double inf = std::numeric_limits<double>::infinity();

/// In C, and what it should be.
struct OfNumbers {
  std::string text;
  std::function<double(double, double)> wanted;
};

std::vector<OfNumbers> every_function() {
  using operators::Function;
  std::vector<OfNumbers> all;
  const auto of = [](Function function, std::size_t arity) {
    return [function, arity](double a, double b) {
      return operators::evaluate(function, arity == 1 ? std::vector<double>{a} : std::vector<double>{a, b});
    };
  };
  for (const auto function :
       {Function::negate,     Function::abs,     Function::exp,   Function::expm1, Function::log,
        Function::log1p,      Function::log2,    Function::log10, Function::sqrt,  Function::sin,
        Function::cos,        Function::tan,     Function::asin,  Function::acos,  Function::atan,
        Function::sinh,       Function::cosh,    Function::erf,   Function::tanh,  Function::floor,
        Function::ceil,       Function::sigmoid, Function::relu,  Function::sign,  Function::round,
        Function::logical_not}) {
    all.push_back({std::string(operators::facts(function).name) + "(B1[k])", of(function, 1)});
  }
  for (const auto function : {Function::add, Function::subtract, Function::multiply, Function::divide,
                              Function::less, Function::less_equal, Function::greater,
                              Function::greater_equal, Function::equal, Function::not_equal}) {
    all.push_back({std::string("(B1[k] ") + operators::facts(function).infix + " B2[k])", of(function, 2)});
  }
  for (const auto function :
       {Function::minimum, Function::maximum, Function::logical_and, Function::logical_or, Function::power}) {
    all.push_back({std::string(operators::facts(function).name) + "(B1[k], B2[k])", of(function, 2)});
  }
  for (const char* exponent : {"2.0", "3.0", "-1.0", "0.5", "-0.5", "1.5"}) {
    all.push_back({std::string("pow(B1[k], ") + exponent + ")",
                   [=](double x, double) { return std::pow(x, std::stod(exponent)); }});
  }
  return all;
}

TEST_F(Executed, FunctionsOfNumbersInEveryShape) {
  const Numbers x = {-2.5, -1, -0.0, 0, 0.25, 0.5, 1, 1.5, 2, 3.5, -inf, inf, 40, -40, 0.125, 2.5, -3, 7, 9};
  const Numbers y = {1, -1, 0, 2, 0.25, 3, -1, 2, 0.5, 1, 0, 1, 2, 3, -1, 0.5, 2, 2, 0};
  const auto functions = every_function();
  for (const char* shape : {"", "simd", "vector"}) {
    std::string body;
    for (std::size_t f = 0; f < functions.size(); ++f) {
      body += std::string("for ") + shape + " k in 0 .. " + std::to_string(x.size()) + " { A[(" +
              std::to_string(f * x.size()) + " + k)] = " + functions[f].text + " }\n";
    }
    const auto found = run(body, {full(x), full(y)}, static_cast<std::int64_t>(functions.size() * x.size()));
    for (std::size_t n = 0; n < found.size(); ++n) {
      const auto& function = functions[n / x.size()];
      const double wanted = function.wanted(x[n % x.size()], y[n % x.size()]);
      const bool same = std::isnan(wanted) ? std::isnan(found[n]) : wanted == found[n];
      // The compiler evaluates sigmoid with a fused or an unfused sum; all else is exact.
      EXPECT_TRUE(same || std::fabs(wanted - found[n]) <= 1e-15 * std::fabs(wanted))
          << function.text << " " << shape << ": " << wanted << " but " << found[n];
    }
  }
}

TEST_F(Executed, FunctionsOfWhatVariesAndWhatDoesNot) {
  const auto x = full({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  for (const char* shape : {"", "simd", "vector"}) {
    std::string body;
    int row = 0;
    for (const char* value : {"max(B1[k], 4.0, B1[1])", "where((B1[k] < 4.0), B1[2], negate(B1[k]))",
                              "pow(B1[k], 2.0)", "choose((B1_crd[1] < 5), 2.0, B1[k])",
                              "choose((B1_crd[1] > 5), 2.0, B1[k])", "((1.0 < 2.0) / (B1[0] + 1.0))"}) {
      body += std::string("for ") + shape + " k in 0 .. 11 { A[(" + std::to_string(11 * row++) +
              " + k)] = " + value + " }\n";
    }
    EXPECT_EQ((Numbers{4,  4,  4,  4,   5,   6,   7,   8,   9,   10,  11,  3,   3,   3,   -4,  -5,  -6,
                       -7, -8, -9, -10, -11, 1,   4,   9,   16,  25,  36,  49,  64,  81,  100, 121, 2,
                       2,  2,  2,  2,   2,   2,   2,   2,   2,   2,   1,   2,   3,   4,   5,   6,   7,
                       8,  9,  10, 11,  0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}),
              run(body, {x}, 66))
        << shape;
  }
}

TEST_F(Executed, StoresOfOneValueKeepTheSignOfZero) {
  for (const char* shape : {"", "simd", "vector"}) {
    const auto found =
        run(std::string("for ") + shape + " k in 0 .. 23 { A[k] = B1[0] }", {full({-0.0})}, 23);
    ASSERT_EQ(23U, found.size());
    EXPECT_TRUE(std::all_of(found.begin(), found.end(), [](double x) { return x == 0 && std::signbit(x); }))
        << shape;
  }
}

TEST_F(Executed, AccumulatorsOfEveryMonoid) {
  const std::vector<double> numbers = {3, 1, -4, 1, 5, 9, -2, 6, 5, 3, 5, 8, 9,   7, 9, 3, 2, 3, 8, 4,
                                       6, 2, 6,  4, 3, 3, 8,  3, 2, 7, 9, 5, 0.5, 2, 8, 8, 4, 1, 9, 7};
  const std::vector<operators::Monoid> monoids = {
      operators::Monoid::sum,     operators::Monoid::product,    operators::Monoid::minimum,
      operators::Monoid::maximum, operators::Monoid::logical_or, operators::Monoid::logical_and};
  // Folds all numbers four times by each monoid, twice through another array, and 19 in vector lanes.
  std::string body = "let c: index = B1_pos[1]\n";
  int unique = 0;
  std::size_t offset = 0;
  for (const auto monoid : monoids) {
    const std::string name = operators::name(monoid);
    const std::string op = name == "sum" ? " += " : name == "prod" ? " *= " : " " + name + "= ";
    for (const std::string shape : {"", "simd "}) {
      for (const char* value : {"B1[k]", "B1[B1_crd[k]]"}) {
        const std::string t = "t" + std::to_string(unique++);
        body += name + " " + t + "\nfor " + shape + "k in 0 .. c { " + t + op + value + " }\nA[" +
                std::to_string(offset++) + "] = " + t + "\n";
      }
    }
    const std::string t = "t" + std::to_string(unique++);
    body += "for vector k in 0 .. 19 { " + name + " " + t + " for i in 0 .. c { " + t + op + "B1[i] } A[(" +
            std::to_string(offset) + " + k)]" + op + t + " }\n";
    offset += 19;
  }
  compile(body, 1);
  for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, numbers.size()}) {
    const Numbers some(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(count));
    Numbers wanted;
    for (const auto monoid : monoids) {
      double folded = operators::identity(monoid);
      for (const double x : some) folded = operators::evaluate(operators::combine(monoid), {folded, x});
      wanted.insert(wanted.end(), 4, folded);
      wanted.insert(wanted.end(), 19, operators::evaluate(operators::combine(monoid), {5, folded}));
    }
    EXPECT_EQ(wanted, execute({full(some)}, static_cast<std::int64_t>(offset), 5)) << count;
  }
  EXPECT_EQ((Numbers{7, 7, 7, 7, 7, 8}),
            run("for vector k in 0 .. 5 { max t from 7.0 t max= B1[0] A[k] = t } max t from 8.0 t max= B1[0] "
                "A[5] = t",
                {full({3})}, 6));
}

/// Four sums of one loop, of every length below three registers: their lanes are used and not used, and the
/// loop runs once or more often.
TEST_F(Executed, FourSumsInLanes) {
  const std::string declared = "sum t sum u sum v sum w\n";
  const std::string loop =
      "for simd k in 0 .. few { t += (B1[k] * B2[k]) u += B1[k] v += B2[k] w += (B1[k] * B1[k]) }\n";
  const std::string stores = "A[o] = t A[(o + 1)] = u A[(o + 2)] = v A[(o + 3)] = w\n";
  const std::string times = " = choose((0 < few), (B2[(q + ";
  const std::string body =
      "let few: index = B1_crd[B1_pos[0]] let q: index = (few + 1)\n"
      "for o in 0 .. 1 {" +
      declared + loop + "let a: value" + times + "0)] * t), t) let b: value" + times +
      "1)] * u), u) let c: value" + times + "2)] * v), v) let d: value" + times + "3)] * w), w)\n" +
      "A[o] = (a - B1[0]) A[(o + 1)] = (b - B1[0]) A[(o + 2)] = (c - B1[0]) A[(o + 3)] = (d - B1[0]) }\n"
      "for o in 4 .. 5 {" +
      declared + "for i in 0 .. 3 { " + loop + " }\n" + stores +
      "}\n"
      "for o in 8 .. 9 {" +
      declared + loop + loop + stores +
      "}\n"
      "for o in 12 .. 13 {" +
      declared + loop + "t += 0.5\n" + stores +
      "}\n"
      "for o in 16 .. 17 {" +
      declared + "t += 0.5\n" + loop + "A[o] = t A[(o + 1)] = v A[(o + 2)] = u A[(o + 3)] = w }\n";
  for (std::size_t n = 0; n < 25; ++n) {
    Numbers x(n + 5), y(n + 5), sums(4);
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = static_cast<double>(k % 5) + 1;
      y[k] = static_cast<double>(k % 3) - 4;
      if (k >= n) continue;
      sums[0] += x[k] * y[k], sums[1] += x[k], sums[2] += y[k], sums[3] += x[k] * x[k];
    }
    Numbers wanted;
    for (std::size_t lane = 0; lane < 4; ++lane) wanted.push_back(sums[lane] * y[n + 1 + lane] - x[0]);
    for (const double often : {3.0, 2.0, 1.0})
      for (const double sum : sums) wanted.push_back(often * sum);
    wanted[12] += 0.5;
    wanted.insert(wanted.end(), {sums[0] + 0.5, sums[2], sums[1], sums[3]});
    SparseVector first = full(x);
    first.crd.front() = static_cast<std::int64_t>(n);
    if (n == 0) compile(body, 2);
    EXPECT_EQ(wanted, execute({first, full(y)}, 20)) << n;
  }
}

TEST_F(Executed, ConditionsAndCounters) {
  EXPECT_EQ((Numbers{0, 0, 1, 1, 0}),
            run("for i in 0 .. n { if and((i > 1), not((i >= 4))) { A[i] = 1.0 } }", {}, 5));
  EXPECT_EQ(
      (Numbers{10, 30, 50, 0, 0}),
      run("counter c = 0 for i in 0 .. 5 { if or((i == 0), (i == 2), (i == 4)) { A[c] = B1[i] set c = (c "
          "+ 1) } } if (c != 3) { A[4] = 99.0 }",
          {full({10, 20, 30, 40, 50})}, 5));
  // Lazy: what is not chosen is not read; `and` stops early.
  EXPECT_EQ((Numbers{3}), run("A[0] = choose((n == 1), 3.0, B1[1099511627776])", {full({1})}, 1));
  EXPECT_EQ((Numbers{4}),
            run("A[0] = 4.0 if and((n == 2), (B1_crd[1099511627776] == 0)) { A[0] = 5.0 }", {full({1})}, 1));
  EXPECT_EQ(
      (Numbers{2, 5, -1}),
      run("let a: index = max(2, 1, min(n, 7)) let b: index = (a - 1) A[0] = B1[b] A[1] = B1[(a + (a < 4))] "
          "A[2] = B1[0]",
          {full({-1, 0, 2, 4, 5})}, 3));
}

TEST_F(Executed, UnionsOfLists) {
  const SparseVector b({0, 2, 3, 7}, {1, 2, 3, 4});
  const SparseVector c({2, 4}, {10, 20});
  const SparseVector d({}, {});
  const SparseVector e({0, 1, 2, 3, 4, 5, 6, 7}, {.1, .2, .3, .4, .5, .6, .7, .8});
  const auto cursor = [](const std::string& id) {
    return "p" + id + " present h" + id + " over B" + id + "_crd in 0 .. B" + id + "_pos[1]";
  };
  const auto term = [](const std::string& id) {
    return "choose(h" + id + ", B" + id + "[p" + id + "], 0.0)";
  };
  const std::string two = "merge any j at " + cursor("1") + ", " + cursor("2") + " { A[j] = (" + term("1") +
                          " + " + term("2") + ") }";
  EXPECT_EQ((Numbers{1, 0, 12, 3, 20, 0, 0, 4, 0}), run(two, {b, c}, 9));
  EXPECT_EQ((Numbers{1, 0, 12, 3, 20, 0, 0, 4, 0}), execute({c, b}, 9));
  EXPECT_EQ((Numbers{1, 0, 2, 3, 0, 0, 0, 4, 0}), execute({b, d}, 9));
  EXPECT_EQ((Numbers{1, 0, 2, 3, 0, 0, 0, 4, 0}), execute({d, b}, 9));
  EXPECT_EQ((Numbers{0, 0}), execute({d, d}, 2));
  const std::string three = "merge any j at " + cursor("1") + ", " + cursor("2") + ", " + cursor("3") +
                            " { A[j] = (" + term("1") + " + (" + term("2") + " + " + term("3") + ")) }";
  EXPECT_EQ((Numbers{1.1, .2, 12.3, 3.4, 20.5, .6, .7, 4.8, 0}), run(three, {b, c, e}, 9));
  // Over a range, also one that begins in the middle; and a condition in the body: (B1 or B2) but not both.
  const std::string over =
      "merge any j in 3 .. 8 at p present h over B1_crd in 2 .. B1_pos[1] { A[j] = "
      "choose(h, B1[p], -1.0) }";
  EXPECT_EQ((Numbers{0, 0, 0, 3, -1, -1, -1, 4, 0}), run(over, {b}, 9));
  const std::string either = "merge any j at " + cursor("1") + ", " + cursor("2") +
                             " { if (h1 != h2) { A[j] = (" + term("1") + " + " + term("2") + ") } }";
  EXPECT_EQ((Numbers{1, 0, 0, 3, 20, 0, 0, 4, 0}), run(either, {b, c}, 9));
  const std::string both =
      "merge j at p over B1_crd in 0 .. B1_pos[1], q over B2_crd in 0 .. B2_pos[1] { "
      "A[j] = (B1[p] * B2[q]) }";
  EXPECT_EQ((Numbers{0, 0, 20, 0, 0}), run(both, {b, c}, 5));
}

/// A list of forty coordinates and more beside a short one: its steps are doubled, then halved.
TEST_F(Executed, IntersectionsSkipThroughLongLists) {
  const auto merge = [](const std::string& kind, const std::string& body) {
    return "merge " + kind + "j at p over B1_crd in 0 .. B1_pos[1], q over B2_crd in 0 .. B2_pos[1] { " +
           body + " }";
  };
  std::vector<std::int64_t> coordinates;
  for (std::int64_t j = 1; j < 200; j += 2) coordinates.push_back(j);
  const SparseVector odd(coordinates, Numbers(coordinates.begin(), coordinates.end())), none({}, {});
  compile(merge("", "A[j] = (B1[p] * B2[q])"), 2);
  for (const std::vector<std::int64_t>& at : std::vector<std::vector<std::int64_t>>{
           {}, {0}, {1}, {199}, {198, 199}, {0, 1, 2, 3}, {2, 64, 65, 129, 196}, {101, 103, 105, 107, 199}}) {
    const SparseVector few(at, Numbers(at.size(), 10));
    Numbers wanted(200);
    for (const std::int64_t j : at)
      if (j % 2 == 1) wanted[static_cast<std::size_t>(j)] = 10.0 * static_cast<double>(j);
    EXPECT_EQ(wanted, execute({few, odd}, 200));
    EXPECT_EQ(wanted, execute({odd, few}, 200));
  }
  compile(merge("first ", "A[0] = (B1[p] + B2[q]) A[1] += 1.0"), 2);
  EXPECT_EQ((Numbers{75, 1}), execute({SparseVector({2, 65, 129}, {10, 10, 10}), odd}, 2));
  EXPECT_EQ((Numbers{1, 1}), execute({odd, SparseVector({1, 3}, {0, 0})}, 2));
  EXPECT_EQ((Numbers{0, 0}), execute({odd, SparseVector({2, 4}, {1, 1})}, 2));
  EXPECT_EQ((Numbers{0, 0}), execute({odd, none}, 2));
}

TEST_F(Executed, ListsThatHoldCoordinatesSeveralTimes) {
  const SparseVector b({0, 2, 2, 2, 5, 7, 7}, {1, 2, 3, 4, 5, 6, 7});
  const SparseVector c({2, 4, 7}, {10, 20, 30});
  const std::string sum = "for q in p .. pe { A[j] += B1[q] }";
  const std::string one = "merge j at p until pe over B1_crd in 0 .. B1_pos[1] { A[j] += 100.0 " + sum + " }";
  EXPECT_EQ((Numbers{101, 0, 109, 0, 0, 105, 0, 113}), run(one, {b}, 8));
  EXPECT_EQ((Numbers{0, 0}), execute({SparseVector({}, {})}, 2));
  EXPECT_EQ((Numbers{102}), execute({SparseVector({0, 0}, {1, 1})}, 1));
  const std::string common =
      "merge j at p until pe over B1_crd in 0 .. B1_pos[1], r over B2_crd in 0 .. B2_pos[1] "
      "{ A[j] = B2[r] " +
      sum + " }";
  EXPECT_EQ((Numbers{0, 0, 19, 0, 0, 0, 0, 43}), run(common, {b, c}, 8));
  const std::string any =
      "merge any j at p until pe present h over B1_crd in 0 .. B1_pos[1], r present g over B2_crd in 0 .. "
      "B2_pos[1] { A[j] = choose(g, B2[r], 1.0) " +
      sum + " }";
  EXPECT_EQ((Numbers{2, 0, 19, 0, 20, 6, 0, 43}), run(any, {b, c}, 8));
  const std::string over =
      "merge any j in 1 .. 8 at p until pe present h over B1_crd in 1 .. B1_pos[1] { A[j] += 1.0 " + sum +
      " }";
  EXPECT_EQ((Numbers{0, 1, 10, 1, 1, 6, 1, 14}), run(over, {b}, 8));
}

TEST_F(Executed, FillsSortsAndFlags) {
  const std::string arrays =
      "  array list: index32 = scratch count 1000 written\n"
      "  array long_list: index64 = scratch count 1000 written\n"
      "  array flag: byte = scratch count 3 written\n"
      "  array w: value = scratch count 5 written\n";
  EXPECT_EQ((Numbers{inf, inf, 4, 2, 200}),
            run("fill w from 0 count 3 with inf fill w from 3 count 1 with 4.0 fill A from 0 count n with "
                "0.0 A[0] = w[0] A[1] = w[2] "
                "A[2] = w[3] flag[1] = 200 fill flag from 0 count 1 with 2 "
                "for i in 0 .. flag[0] { A[3] += 1.0 } for i in 0 .. flag[1] { A[4] += 1.0 }",
                {}, 5, arrays, 7));
  std::mt19937_64 random(7);
  Numbers numbers(40001);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const std::string list : {"list", "long_list"}) {
    // The elements before and behind what is sorted stay; B2 makes numbers of indices.
    compile(list + "[0] = 1500 " + list + "[(n + -1)] = 0 for i in 2 .. n { " + list +
                "[(i + -1)] = B1_crd[(i + -2)] } sort " + list +
                " in 1 .. (n + -1) for i in 0 .. n { A[i] = B2[" + list + "[i]] }",
            2, arrays);
    for (const std::int64_t count : {0, 1, 2, 24, 25, 26, 100, 990}) {
      for (const std::string order : {"random", "ascending", "descending", "equal", "waves", "wide"}) {
        std::vector<std::int64_t> given;
        for (std::int64_t n = 0; n < count; ++n) {
          given.push_back(order == "random"       ? static_cast<std::int64_t>(random() % 2000)
                          : order == "ascending"  ? n
                          : order == "descending" ? count - n
                          : order == "equal"      ? 5
                          : order == "wide"       ? (count - n) * 40000 / count
                                                  : n % 30);
        }
        Numbers wanted(given.begin(), given.end());
        std::sort(wanted.begin(), wanted.end());
        wanted.insert(wanted.begin(), 1500);
        wanted.push_back(0);
        EXPECT_EQ(wanted, execute({SparseVector(given, Numbers(given.size())), full(numbers)}, count + 2))
            << order << " " << count;
      }
    }
  }
}

TEST_F(Executed, CollectsWhatIsMarked) {
  std::mt19937_64 random(11);
  for (const std::int64_t extent : {1, 3, 63, 64, 65, 4095, 4096, 70000, 140001, 1200000}) {
    Numbers numbers(static_cast<std::size_t>(extent) + 1);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::string n = std::to_string(extent);
    for (const std::string element : {"index32", "index64"}) {
      const std::string arrays = "  array list: " + element + " = scratch count " +
                                 std::to_string(extent + extent / 64 + 24) +
                                 " written\n  array set: byte = scratch count " +
                                 std::to_string(extent + extent / 64 + extent / 4096 + 192) + " written\n";
      const std::string turn = "counter c = 0 for i in 0 .. B1_pos[1] { occupy set of " + n +
                               " list list count c at B1_crd[i] } compact set of " + n +
                               " list list count c ";
      // Twice: nothing is left of the first time.
      compile("for t in 0 .. 2 { " + turn + "for i in 0 .. c { A[(i + 1)] = B2[list[i]] } A[0] = B2[c] }", 2,
              arrays);
      for (const std::int64_t count : {0, 1, 2, 16, 17, 40, 900}) {
        for (const std::int64_t spread : {std::int64_t{1}, std::int64_t{100}, extent}) {
          const auto width = static_cast<std::uint64_t>(std::min(spread, extent));
          std::vector<std::int64_t> given;
          for (std::int64_t k = 0; k < count; ++k)
            given.push_back(extent - 1 - static_cast<std::int64_t>(random() % width));
          const std::set<std::int64_t> each(given.begin(), given.end());
          Numbers wanted{static_cast<double>(each.size())};
          wanted.insert(wanted.end(), each.begin(), each.end());
          EXPECT_EQ(wanted, execute({SparseVector(given, Numbers(given.size())), full(numbers)},
                                    static_cast<std::int64_t>(each.size()) + 1))
              << extent << " " << element << " " << count << " of " << width;
        }
      }
    }
  }
}

TEST(Codegen, VersionsAreOneBodyAndAFunctionForEachSize) {
  const auto kernel = parsed(R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0
  extent m = argument 0 mode 1
  let s: index = (n * m)
  array A: value = values 0 written
  array B: value = values 1
  phase range 1 specialised for n m at 8 16 {
    for simd i in 0 .. s {
      A[i] = (B[i] + B[m])
    }
  }
})");
  const std::string text = print_c(kernel, {"", "", "", "", "k"});
  const std::string parameters =
      "const schaas_tensor* const* args, void* const* shared, void* workspace, int64_t begin, int64_t end";
  const auto at = text.find("static ALWAYS_INLINE int32_t k_phase_0_of(" + parameters +
                            ", value* restrict A, const value* restrict B, int64_t n, int64_t m) {\n"
                            "  (void)shared, (void)workspace;\n"
                            "  const int64_t s = (n * m);\n");
  ASSERT_NE(std::string::npos, at) << text;
  const auto end = text.find("static int64_t k_range_0", at);
  const auto call = text.find("static NOINLINE int32_t k_phase_0_version_0(", at);
  const std::string known =
      parameters +
      ", value* restrict A, const value* restrict B, int64_t n, int64_t m) {\n  return k_phase_0_of(";
  EXPECT_EQ("static NOINLINE int32_t k_phase_0_version_0(" + known +
                "args, shared, workspace, begin, end, A, B, 8, 8);\n}\n"
                "static NOINLINE int32_t k_phase_0_version_1(" +
                known +
                "args, shared, workspace, begin, end, A, B, 16, 16);\n}\n"
                "static NOINLINE int32_t k_phase_0_version_2(" +
                known +
                "args, shared, workspace, begin, end, A, B, n, m);\n}\n\n"
                "static int32_t k_phase_0(" +
                parameters + R"() {
  if (!k_check(args)) return 1;
  if (begin >= end) return 0;
  value* restrict A = args[0]->values;
  const value* restrict B = args[1]->values;
  const int64_t n = args[0]->extents[0];
  const int64_t m = args[0]->extents[1];
  if (n == 8 && m == 8) return k_phase_0_version_0(args, shared, workspace, begin, end, A, B, n, m);
  if (n == 16 && m == 16) return k_phase_0_version_1(args, shared, workspace, begin, end, A, B, n, m);
  return k_phase_0_version_2(args, shared, workspace, begin, end, A, B, n, m);
}

)",
            text.substr(call, end - call));
}

/// Returns the texts between `before` and `after` of the lines that have both.
std::vector<std::string> between(const std::string& text, const std::string& before,
                                 const std::string& after) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(before);
    const auto end = line.rfind(after);
    if (at != std::string::npos && end != std::string::npos && at + before.size() <= end)
      found.push_back(line.substr(at + before.size(), end - at - before.size()));
  }
  return found;
}

/// Returns the extents that each version passes, in order.
std::vector<std::string> extents_passed(const std::string& text) {
  return between(text, "return k_phase_0_of(args, shared, workspace, begin, end, A, B, ", ");");
}

/// Returns the conditions of the versions, in order.
std::vector<std::string> conditions(const std::string& text) {
  return between(text, "  if (", ") return k_phase_0_version_");
}

TEST(Codegen, VersionForSinglesComesFirst) {
  const auto kernel = parsed(R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0
  extent m = argument 0 mode 1
  array A: value = values 0 written
  array B: value = values 1
  phase range 1 specialised for n single m at 1 8 {
    for k in 0 .. m {
      for simd i in 0 .. n {
        A[i] = B[i]
      }
    }
  }
})");
  const std::string text = print_c(kernel, {"", "", "", "", "k"});
  EXPECT_EQ((std::vector<std::string>{"1, 1", "1, m", "8, m", "n, m"}), extents_passed(text));
  EXPECT_EQ((std::vector<std::string>{"n == 1 && m == 1", "n == 1", "n == 8"}), conditions(text));
}

TEST(Codegen, VersionsByRegistersBoundTheirArgument) {
  const auto kernel = parsed(R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0
  array A: value = values 0 written
  array B: value = values 1
  phase range 1 specialised for n at 8 registers 1 2 4 {
    sum t
    for simd i in 0 .. n {
      t += B[i]
    }
    A[0] = t
  }
})");
  const std::string text = print_c(kernel, {"", "", "", "", "k"});
  EXPECT_EQ((std::vector<std::string>{"8", "0 * WIDTH(vec) + (n & (1 * WIDTH(vec) - 1))",
                                      "1 * WIDTH(vec) + (n & (1 * WIDTH(vec) - 1))",
                                      "2 * WIDTH(vec) + (n & (2 * WIDTH(vec) - 1))", "n"}),
            extents_passed(text));
  EXPECT_EQ(
      (std::vector<std::string>{"n == 8", "n < 1 * WIDTH(vec)", "n >= 1 * WIDTH(vec) && n < 2 * WIDTH(vec)",
                                "n >= 2 * WIDTH(vec) && n < 4 * WIDTH(vec)"}),
      conditions(text));
}

TEST(Codegen, PrefetchFlagIsAConstantForRowsOfOneElement) {
  const auto kernel = parsed(R"(kernel f64 arguments 3 {
  extent n = argument 0 mode 1
  array A: value = values 0 written
  array B_crd1: index64 = coordinates 1 level 1
  array B: value = values 1
  array C: value = values 2
  phase range 1 specialised for n at 1 8 {
    for vector k in 0 .. n {
      sum t
      for p in begin .. end entries of B_crd1 prefetch 16 {
        let j: index = B_crd1[p]
        let o: index = (j * n)
        t += (B[p] * C[(o + k)])
      }
      A[k] = t
    }
  }
})");
  const std::string text = print_c(kernel, {"", "", "", "", "k"});
  const std::string begin = "k_phase_0_of(args, shared, workspace, begin, end, ";
  EXPECT_EQ((std::vector<std::string>{"A, B_crd1, B, C, 1, 1) : " + begin + "A, B_crd1, B, C, 1, 0"}),
            between(text, "return prefetch ? " + begin, ");"));
  EXPECT_EQ((std::vector<std::string>{"A, B_crd1, B, C, 8, prefetch", "A, B_crd1, B, C, n, prefetch"}),
            between(text, "return " + begin, ");"));
  EXPECT_NE(std::string::npos, text.find("if (__builtin_expect(prefetch, 0)) {")) << text;
}

TEST(Codegen, OneTextForAllInstructionSets) {
  const auto kernel = parsed(scale);
  EXPECT_EQ(print_c(kernel, {"", "", "", ""}), print_c(kernel, {"", "", "", ""}));
  const auto toolchain = toolchain::make_c_toolchain({});
  for (const char* isa : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "generic"}) {
    const auto binary = toolchain->compile_c(print_c(kernel, {"", "", "", ""}), {isa}, {});
    EXPECT_TRUE(binary.ok()) << isa << ": " << support::render(binary.error());
  }
}

}  // namespace
/// A kernel for a GPU with positions of so many bits and this range.
ShortIndices short_indices(const std::string& bits, const std::string& range) {
  const auto kernel = loop_ir::parse(
      "kernel f32 arguments 3 {\n"
      "  extent n_i = argument 0 mode 0\n"
      "  extent n_k = argument 0 mode 1\n"
      "  array C: value = values 0 written\n"
      "  array p: index" +
      bits +
      " = positions 1 level 1\n"
      "  array c: index" +
      bits +
      " = coordinates 1 level 1\n"
      "  array A: value = values 1\n"
      "  phase range " +
      range +
      " parallel mapping grain 1 per_item 8 group 1 tile 1 block 256 {\n"
      "    for i in begin .. end {\n"
      "      let row: index = (i * n_k)\n"
      "      counter next = (p[i] + lane)\n"
      "      for pj in next .. p[(i + 1)] by 8 {\n"
      "        let j: index = min(c[pj], (n_k - 1))\n"
      "        let both: index = (j + pj)\n"
      "        let wide: index = (lane * 4)\n"
      "        set next = (pj + 8)\n"
      "        C[(row + j)] = A[pj]\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "}\n");
  EXPECT_TRUE(kernel.ok()) << support::render(kernel.error());
  return ShortIndices(*kernel);
}

TEST(ShortIndices, AreCoordinatesPositionsAndWhatFollowsFromThem) {
  const ShortIndices found = short_indices("32", "n_i");
  for (const char* name : {"n_i", "n_k", "begin", "end", "lane", "i", "next", "pj", "j", "wide"})
    EXPECT_TRUE(found.has(name)) << name;
  EXPECT_FALSE(found.has("row")) << "a product of extents";
  EXPECT_FALSE(found.has("both")) << "a sum of two numbers of 31 bits";
  EXPECT_STREQ(found.type_of("pj"), "int32_t");
  EXPECT_STREQ(found.type_of("row"), "int64_t");
}

TEST(ShortIndices, AreNotWhatALongRangeCounts) {
  const ShortIndices found = short_indices("32", "(n_i * n_k)");
  for (const char* name : {"begin", "end", "i"}) EXPECT_FALSE(found.has(name)) << name;
  EXPECT_TRUE(found.has("j"));
}

TEST(ShortIndices, AreNoneBesidePositionsOf64Bits) { EXPECT_FALSE(short_indices("64", "n_i").any()); }

}  // namespace schaas::codegen

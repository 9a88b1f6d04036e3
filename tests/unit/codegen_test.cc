#include "compiler/codegen/c_printer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "compiler/codegen/c_abi.h"
#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/toolchain/toolchain.h"
#include "proto/kernel_abi.h"
#include "tests/support/kernel_runner.h"

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
  EXPECT_EQ(2, SCHAAS_KERNEL_ABI_VERSION);  // print_descriptor writes 2
  EXPECT_EQ(0, SCHAAS_F64);
  EXPECT_EQ(1, SCHAAS_F32);
  EXPECT_EQ(1, SCHAAS_ERROR_ARGUMENT);
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

/// A kernel whose operand and result are vectors of 8-byte numbers.
constexpr const char* scale = R"(kernel f64 arguments 2 {
  extent n = argument 0 mode 0 required 5
  array A: value = values 0 written
  array B: value = values 1
  array w: value = workspace count n written
  array w_2: value = workspace count 3 written
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
}  // namespace schaas::codegen

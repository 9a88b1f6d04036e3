// Each codegen/*.test: a line of description, the problem and a tree, then the loops and the C or CUDA they
// become, both compared whole. SCHAAS_UPDATE=1 in the environment rewrites the expected parts; review reads
// the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/cuda_printer.h"
#include "compiler/concrete_notation/checks/verifier.h"
#include "compiler/concrete_notation/parser.h"
#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/loop_ir/verifier.h"
#include "compiler/lower/lower.h"
#include "tests/golden/golden_file.h"

namespace schaas {
namespace {

namespace fs = std::filesystem;

constexpr const char* loops_rule = "\n---- loops\n";
constexpr const char* c_rule = "---- c\n";
constexpr const char* cuda_rule = "---- cuda\n";

struct Input {
  problem::ProblemText problem;
  std::string tree;
};

/// Lines "word rest": expression, format <tensor> <text>, constraint, values, positions, tree (may be
/// continued by indented lines).
Input parse_input(const std::string& head) {
  Input input;
  std::istringstream lines(head);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    std::string rest;
    words >> word >> std::ws;
    if (line.rfind("  ", 0) == 0) {
      input.tree += " " + line;
      continue;
    }
    if (word == "format") {
      std::string tensor;
      words >> tensor >> input.problem.formats[tensor];
      continue;
    }
    std::getline(words, rest);
    if (word == "expression") input.problem.expression = rest;
    if (word == "constraint") input.problem.constraints.push_back(rest);
    if (word == "values") input.problem.value_type = rest;
    if (word == "positions") input.problem.position_bits = rest;
    if (word == "tree") input.tree = rest;
  }
  return input;
}

/// The declarations at the top are the same in every kernel and are tested against proto/kernel_abi.h.
std::string without_prologue(const std::string& c) {
  const auto begin = c.find("static int check(");
  return begin == std::string::npos ? c : c.substr(begin);
}

/// Returns the device functions of a GPU kernel and their preparation by the host.
std::string device_code(const std::string& cuda) {
  const auto device = cuda.find("extern \"C\" __global__");
  const auto host = cuda.find("static int64_t schaas_prepare_0");
  const auto end = cuda.find("static int64_t schaas_shared_bytes");
  return cuda.substr(device, cuda.find("#endif", device) - device) + cuda.substr(host, end - host);
}

const codegen::KernelLabel label{"key", "trace", "isa", "problem"};

std::string source_of(const loop_ir::Kernel& kernel) {
  return kernel.for_gpu() ? codegen::print_cuda(kernel, label) : codegen::print_c(kernel, label);
}

class CodegenGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(CodegenGolden, LoopsAndC) {
  const fs::path path = fs::path(SCHAAS_SOURCE_DIR) / "tests/golden/codegen" / GetParam();
  const std::string text = golden::read_file(path);
  const std::string head = text.substr(0, text.find(loops_rule));
  const Input input = parse_input(head);
  const auto problem = problem::build(input.problem);
  ASSERT_TRUE(problem.ok()) << support::render(problem.error());
  const auto tree = concrete_notation::parse(input.tree);
  ASSERT_TRUE(tree.ok()) << support::render(tree.error());
  const auto legal = concrete_notation::verify(*tree, *problem);
  ASSERT_TRUE(legal.ok()) << support::render(legal.error());
  const auto kernel = lower::lower(*tree, *problem);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  const auto verified = loop_ir::verify(*kernel);
  ASSERT_TRUE(verified.ok()) << support::render(verified.error());

  const std::string loops = loop_ir::print(*kernel);
  const std::string c = source_of(*kernel);
  const std::string code = kernel->for_gpu() ? cuda_rule + device_code(c) : c_rule + without_prologue(c);
  const std::string found = head + loops_rule + loops + code;
  if (std::getenv("SCHAAS_UPDATE") != nullptr) {
    std::ofstream(path) << found;
    return;
  }
  EXPECT_EQ(text, found);

  const auto again = loop_ir::parse(loops);
  ASSERT_TRUE(again.ok()) << support::render(again.error());
  EXPECT_EQ(loops, loop_ir::print(*again));
  EXPECT_EQ(c, source_of(*again));
}

std::vector<std::string> golden_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(SCHAAS_SOURCE_DIR) / "tests/golden/codegen")) {
    if (entry.path().extension() == ".test") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, CodegenGolden, ::testing::ValuesIn(golden_files()),
                         [](const auto& param) { return param.param.substr(0, param.param.find('.')); });

TEST(CodegenGoldenFiles, AreFound) { EXPECT_LE(6U, golden_files().size()); }

}  // namespace
}  // namespace schaas

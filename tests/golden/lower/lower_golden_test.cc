// Each PASS/CASE.test: a line of description, a kernel in the text form of loop IR, then either
// `---- becomes` with the kernel that the pass makes of it, or `---- stays`. SCHAAS_UPDATE=1 in the
// environment rewrites the kernel after `---- becomes`; review reads the difference. Whether a pass applies
// is never rewritten.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/loop_ir/parser.h"
#include "compiler/loop_ir/printer.h"
#include "compiler/lower/passes_on_text.h"
#include "tests/golden/golden_file.h"

namespace schaas {
namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::path(SCHAAS_SOURCE_DIR) / "tests/golden/lower";
constexpr const char* becomes = "---- becomes\n";
constexpr const char* stays = "---- stays\n";

/// The parts of a file; `after` is empty where the kernel stays.
struct Golden {
  std::string description, before, after;
  bool applies = false;
};

Golden parse_file(const std::string& text) {
  const auto line_end = text.find('\n') + 1;
  const auto rule = text.find("---- ");
  EXPECT_NE(std::string::npos, rule) << "no rule";
  Golden golden{text.substr(0, line_end), text.substr(line_end, rule - line_end), "", false};
  golden.applies = text.compare(rule, std::string(becomes).size(), becomes) == 0;
  if (golden.applies) golden.after = text.substr(rule + std::string(becomes).size());
  EXPECT_TRUE(golden.applies || text.substr(rule) == stays) << "an unknown rule";
  return golden;
}

/// Returns the kernel's text after the pass, or the error.
std::string rewritten(const std::string& before, const std::string& pass) {
  const auto passes = lower::parse_passes(pass);
  if (!passes.ok()) return support::render(passes.error());
  const auto kernel = lower::run_passes_on_text(before, {.passes = *passes});
  return kernel.ok() ? loop_ir::print(*kernel) : support::render(kernel.error());
}

class LowerGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(LowerGolden, PassRewritesKernel) {
  const fs::path path = folder / GetParam();
  const auto golden = parse_file(golden::read_file(path));
  EXPECT_EQ(0U, golden.description.find("# "));
  const auto kernel = loop_ir::parse(golden.before);
  ASSERT_TRUE(kernel.ok()) << support::render(kernel.error());
  EXPECT_EQ(golden.before, loop_ir::print(*kernel));
  const std::string after = rewritten(golden.before, path.parent_path().filename());
  if (!golden.applies) {
    EXPECT_EQ(golden.before, after);
    return;
  }
  EXPECT_NE(golden.before, after) << "the pass does not apply";
  if (std::getenv("SCHAAS_UPDATE") != nullptr) {
    std::ofstream(path) << golden.description << golden.before << becomes << after;
    return;
  }
  EXPECT_EQ(golden.after, after);
}

std::vector<std::string> golden_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".test") names.push_back(fs::relative(entry.path(), folder));
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Files, LowerGolden, ::testing::ValuesIn(golden_files()), [](const auto& param) {
  std::string name = param.param.substr(0, param.param.find('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
});

/// Each pass on kernels has a case to which it applies, and one to which it must not.
TEST(LowerGoldenFiles, CoverEveryPass) {
  for (const auto* pass : lower::all_passes()) {
    if (lower::rewrites_nest(*pass)) continue;
    int applies = 0, stays_alone = 0;
    for (const auto& name : golden_files()) {
      if (fs::path(name).parent_path().string() != pass->name) continue;
      ++(parse_file(golden::read_file(folder / name)).applies ? applies : stays_alone);
    }
    EXPECT_LE(1, applies) << pass->name;
    EXPECT_LE(1, stays_alone) << pass->name;
  }
}

}  // namespace
}  // namespace schaas

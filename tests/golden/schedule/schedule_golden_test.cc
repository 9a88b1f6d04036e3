#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"

// Every .test file beside this one is a test:
//     # what it shows
//     expression A(i,l) = ...
//     format B csr                     (one line per tensor that is not dense)
//     schedule loopfuse(...); ...      (may be continued on lines that begin with a blank)
//     ---
//     the loop tree in the papers' short form, the tree for people, and in one line; or the diagnostic
// `SCHAAS_UPDATE=1 schedule_golden_test` rewrites what follows ---; review reads the difference.
namespace schaas::schedule {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(SCHAAS_SOURCE_DIR) / "tests/golden/schedule"; }

std::vector<std::string> files() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".test") out.push_back(entry.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct GoldenTest {
  std::string input;  ///< with the line ---
  std::string expected;
  problem::ProblemText problem;
  std::string schedule;
};

GoldenTest read(const fs::path& path) {
  GoldenTest out;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line != "---") {
    out.input += line + "\n";
    std::istringstream words(line);
    std::string word;
    words >> word;
    std::string rest;
    std::getline(words >> std::ws, rest);
    if (word == "expression") {
      out.problem.expression = rest;
    } else if (word == "format") {
      const auto blank = rest.find(' ');
      out.problem.formats[rest.substr(0, blank)] = rest.substr(blank + 1);
    } else if (word == "schedule") {
      out.schedule = rest;
    } else if (line.rfind(' ', 0) == 0) {
      out.schedule += line;
    } else if (word != "#") {
      ADD_FAILURE() << path << ": a line that means nothing: " << line;
    }
  }
  out.input += "---\n";
  out.expected.assign(std::istreambuf_iterator<char>(file), {});
  return out;
}

support::Result<concrete_notation::StatementPtr> applied(const GoldenTest& test) {
  SCHAAS_ASSIGN_OR_RETURN(const auto problem, problem::build(test.problem));
  SCHAAS_ASSIGN_OR_RETURN(const auto trace, parse(test.schedule));
  return apply(trace, problem);
}

std::string output(const GoldenTest& test) {
  const auto tree = applied(test);
  if (!tree.ok()) return support::render(tree.error()) + "\n";
  return concrete_notation::print_loop_tree(*tree) + "\n\n" + concrete_notation::print_indented(*tree) +
         "\n" + concrete_notation::print(*tree) + "\n";
}

class ScheduleGolden : public testing::TestWithParam<std::string> {};

TEST_P(ScheduleGolden, IsAsReviewed) {
  const fs::path path = folder() / (GetParam() + ".test");
  const GoldenTest test = read(path);
  const std::string got = output(test);
  if (std::getenv("SCHAAS_UPDATE")) {
    std::ofstream(path) << test.input << got;
  } else {
    EXPECT_EQ(got, test.expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, ScheduleGolden, testing::ValuesIn(files()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace schaas::schedule

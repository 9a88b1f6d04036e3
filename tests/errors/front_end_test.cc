// Wrong expressions, formats and constraints, each with the whole text of its diagnostic. Most live in the
// .test files beside this one:
//     == a name
//     expression: A(i) = B(i,j) * c(j)      (also: format B:, constraint:, values:, positions:, profile:)
//     --
//     the rendered diagnostic
// SCHAAS_UPDATE=1 in the environment rewrites the files; read the difference before it is kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/frontier/proofs/contradiction.h"
#include "compiler/problem/problem.h"

namespace schaas::problem {
namespace {

struct Case {
  std::string head;  // the lines up to and with "--", as written
  std::string name;
  ProblemText input;
  std::string expected;
};

std::string file(const std::string& name) { return std::string(SCHAAS_SOURCE_DIR) + "/tests/errors/" + name; }

void read_line(const std::string& line, Case& current) {
  const std::size_t colon = line.find(':');
  ASSERT_NE(colon, std::string::npos) << line;
  const std::string key = line.substr(0, colon);
  const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  if (key == "expression") {
    current.input.expression = value;
  } else if (key.rfind("format ", 0) == 0) {
    current.input.formats[key.substr(7)] = value;
  } else if (key == "constraint") {
    current.input.constraints.push_back(value);
  } else if (key == "values") {
    current.input.value_type = value;
  } else if (key == "positions") {
    current.input.position_bits = value;
  } else if (key == "profile") {
    current.input.profile = value;
  } else {
    FAIL() << "unknown line " << line;
  }
}

std::vector<Case> read(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream in(path);
  bool in_head = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("== ", 0) == 0) {
      cases.push_back({line + '\n', line.substr(3), {}, ""});
      in_head = true;
    } else if (in_head) {
      cases.back().head += line + '\n';
      if (line == "--") {
        in_head = false;
      } else {
        read_line(line, cases.back());
      }
    } else if (!line.empty() && !cases.empty()) {
      cases.back().expected += (cases.back().expected.empty() ? "" : "\n") + line;
    }
  }
  return cases;
}

std::string outcome(const ProblemText& input) {
  const auto solver = frontier::make_z3_solver();
  const auto problem = frontier::build_consistent(input, *solver);
  return problem.ok() ? "accepted" : support::render(problem.error());
}

void check(const std::string& name, std::size_t at_least) {
  const auto cases = read(file(name));
  EXPECT_GE(cases.size(), at_least);
  std::string updated;
  for (const auto& one : cases) {
    const std::string found = outcome(one.input);
    EXPECT_NE(found, "accepted") << one.name;
    if (std::getenv("SCHAAS_UPDATE") == nullptr) {
      EXPECT_EQ(found, one.expected) << "case: " << one.name;
    }
    updated += (updated.empty() ? "" : "\n") + one.head + found + '\n';
  }
  if (std::getenv("SCHAAS_UPDATE") != nullptr) std::ofstream(file(name)) << updated;
}

TEST(FrontEndErrors, Expressions) { check("expression.test", 100); }
TEST(FrontEndErrors, Formats) { check("format.test", 20); }
TEST(FrontEndErrors, Constraints) { check("constraint.test", 45); }
TEST(FrontEndErrors, Contradictions) { check("contradiction.test", 16); }
TEST(FrontEndErrors, Choices) { check("problem.test", 9); }

// Inputs that do not fit on a line of a text file.

std::string of_expression(const std::string& expression) {
  ProblemText input;
  input.expression = expression;
  return outcome(input);
}
std::string of_constraints(std::vector<std::string> constraints) {
  ProblemText input;
  input.expression = "A(i,l) = B(i,j) * C(j,l)";
  input.constraints = std::move(constraints);
  return outcome(input);
}

TEST(FrontEndErrors, BlankExpression) {
  EXPECT_EQ(of_expression(" \t\r\n"), "invalid [empty]: the expression is empty");
}

TEST(FrontEndErrors, SecondLineOfAnExpression) {
  EXPECT_EQ(of_expression("A(i,l) =\n  B(i,j) *\n  * C(j,l)"),
            "invalid [syntax]: expected a tensor, a number, a function or `(`, found `*`\n"
            "  --> expression:3:3\n"
            "  |   * C(j,l)\n"
            "  |   ^");
}

TEST(FrontEndErrors, ControlCharactersNeitherMoveTheCaretNorReachTheTerminal) {
  EXPECT_EQ(of_expression("A(i)\x1b= B(i)"),
            "invalid [control-character]: control character 0x1b in the expression\n"
            "  --> expression:1:5\n"
            "  | A(i) = B(i)\n"
            "  |     ^");
  EXPECT_EQ(of_expression("A(i) = B(i)\x7f"),
            "invalid [control-character]: control character 0x7f in the expression\n"
            "  --> expression:1:12\n"
            "  | A(i) = B(i) \n"
            "  |            ^");
  EXPECT_EQ(of_constraints({std::string("i\0<= 3", 6)}),
            "invalid [control-character]: control character 0x00 in the constraint\n"
            "  --> constraint:1:2\n"
            "  | i <= 3\n"
            "  |  ^");
}

TEST(FrontEndErrors, ExpressionOfTooManyBytes) {
  EXPECT_EQ(of_expression("A(i) = B(i)" + std::string(16 * 1024, ' ')),
            "invalid [too-long]: the expression has 16395 bytes; at most 16384 are allowed");
}

TEST(FrontEndErrors, FormatOfTooManyBytes) {
  ProblemText input;
  input.expression = "A(i) = B(i)";
  for (int n = 0; n < 200; ++n) input.formats["B"] += "dense,";
  EXPECT_EQ(outcome(input),
            "invalid [format-syntax]: the format of `B` has 1200 bytes; at most 1024 are allowed");
}

TEST(FrontEndErrors, TooManySparseLevels) {
  ProblemText input;
  const std::string indices = "(a,b,c,d,e,f,g,h)";
  for (const std::string tensor : {"B", "C", "D", "E", "F", "G"}) {
    input.expression += (input.expression.empty() ? "x = " : " * ") + tensor + indices;
    input.formats[tensor] = "csf";
  }
  EXPECT_EQ(outcome(input),
            "unsupported [too-many-levels]: the operands have 48 sparse levels; at most 43 are supported");
}

TEST(FrontEndErrors, TooManyTerms) {
  std::string sum = "a = 1";
  for (int n = 0; n < 200; ++n) sum += " + 1";
  EXPECT_EQ(of_expression(sum).substr(0, of_expression(sum).find('\n')),
            "unsupported [too-many-terms]: the statement has more than 256 operations, numbers and accesses");
}

TEST(FrontEndErrors, TooManyConstraints) {
  std::vector<std::string> constraints;
  for (int n = 0; n < 257; ++n) constraints.push_back("i <= " + std::to_string(1000 + n));
  EXPECT_EQ(of_constraints(constraints),
            "invalid [too-many-constraints]: more than 256 comparisons in the constraints (257 so far)");
  EXPECT_EQ(of_constraints(std::vector<std::string>(1000, "0 <= i")),
            "invalid [too-many-constraints]: more than 256 texts in the constraints (513 so far)");
}

TEST(FrontEndErrors, StoredProblems) {
  ProblemText input;
  input.expression = "A(i) = B(i,j) * C(j)";
  input.formats["B"] = "csr";
  const std::string stored = print(*build(input));
  const auto message = [](const std::string& text) {
    const auto problem = parse_problem(text);
    return problem.ok() ? "accepted" : support::render(problem.error());
  };
  const auto replaced = [&stored](const std::string& from, const std::string& to) {
    std::string text = stored;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(message(stored), "accepted");
  EXPECT_EQ(message(""), "invalid [stored-problem]: stored problem, line 1: the text is cut off");
  EXPECT_EQ(message("schaas-problem 1\n"),
            "invalid [stored-problem]: stored problem, line 2: the text is cut off");
  EXPECT_EQ(message(stored.substr(0, stored.size() - 1)),
            "invalid [stored-problem]: stored problem, line 8: the text is cut off");
  EXPECT_EQ(message(replaced("problem 1", "problem 2")),
            "invalid [stored-problem]: stored problem, line 1: expected `schaas-problem 1`, found "
            "`schaas-problem 2`");
  EXPECT_EQ(message(replaced("values f64", "value f64")),
            "invalid [stored-problem]: stored problem, line 6: unknown line `value f64`");
  EXPECT_EQ(message(replaced("format C dense:0", "format C")),
            "invalid [stored-problem]: stored problem, line 5: a format without levels");
  EXPECT_EQ(
      message(replaced("dense,compressed:0,1", "csr")),
      "invalid [stored-problem]: stored problem, line 8: the lines are not in the form they are stored in");
  EXPECT_EQ(
      message(replaced("values f64", "values f46")),
      "invalid [stored-problem]: stored problem: it is not a valid problem\n"
      "  note: invalid [value-type]: unknown value type `f46`, expected `f64`, `f32`, `i64`, `i32`, "
      "`bf16`, `f16`, `i8`, `i16`, `u8`, `u16`, `u32`, `u64`, `bool`, `c64` or `c128`; did you mean `f64`?");
}

}  // namespace
}  // namespace schaas::problem

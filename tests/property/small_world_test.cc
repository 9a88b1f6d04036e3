#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/problem/problem.h"
#include "tests/support/interpreted_trial.h"
#include "tests/support/kernel_queue.h"
#include "tests/support/kernel_trial.h"
#include "tests/support/seed.h"

// A small world in full: every expression of one to three matrix operands joined by + - * / and max, and
// those of one or two with coordinates of the indices, as an element of a matrix, as sums of its rows and as
// a sum of all, with every operand and a matrix result in every named format; compiled and run as f64, and
// without quotients also in another type or with an operand in a narrower one, on random tensors, against the
// dense oracle; and as c64 or c128, by turns under conj, imag or abs, where elements need no order. The fast
// test takes every n-th. Of three operands at most one has a format that results do not have; the others then
// are dense, csr or dcsr.
namespace schaas {
namespace {

#if defined(SCHAAS_WHOLE_WORLD)
constexpr std::size_t step = 32;
constexpr std::size_t shards = 32;  // all of it
constexpr std::size_t inputs = 3;
constexpr std::size_t interpreted_step = 1;
#else
constexpr std::size_t step = 631;  // prime: the slice has all formats and operators
constexpr std::size_t shards = 1;
constexpr std::size_t inputs = 4;
constexpr std::size_t interpreted_step = 61;
#endif

using Formats = std::vector<std::string>;

const Formats& written_formats() {
  static const Formats all{"dense", "csr", "csc", "dcsr", "dcsc", "coo"};
  return all;
}
/// Formats of operands; those that results have come first.
const Formats& formats() {
  static const Formats all{"dense", "csr", "csc", "dcsr", "dcsc", "coo", "bitmap", "banded", "hashed"};
  return all;
}
bool is_one_of(const std::string& format, const Formats& all) {
  return std::count(all.begin(), all.end(), format) > 0;
}
bool in_world(const std::string& b, const std::string& c, const std::string& d) {
  int written = 0, plain = 0;
  for (const auto& format : {b, c, d}) {
    written += is_one_of(format, written_formats());
    plain += is_one_of(format, {"dense", "csr", "dcsr"});
  }
  return written == 3 || (written == 2 && plain == 2);
}

std::string joined(const std::string& op, const std::string& a, const std::string& b) {
  return op == "max" ? "max(" + a + "," + b + ")" : "(" + a + " " + op + " " + b + ")";
}

std::vector<std::string> expressions() {
  static const std::vector<std::string> ops{"+", "-", "*", "/", "max"};
  std::vector<std::string> all{"B(i,j)", "where(i < j,B(i,j),0)", "(2 * i - j) * B(i,j)"};
  for (const auto& op : ops) all.push_back(joined(op, "B(i,j)", "(i <= j)"));
  all.emplace_back("where(i < j,B(i,j),C(i,j))");
  for (const auto& op : ops) all.push_back(joined(op, "B(i,j)", "C(i,j)"));
  for (const auto& op : ops) {
    for (const auto& other : ops) {
      all.push_back(joined(op, joined(other, "B(i,j)", "C(i,j)"), "D(i,j)"));
      all.push_back(joined(op, "B(i,j)", joined(other, "C(i,j)", "D(i,j)")));
    }
  }
  return all;
}

/// Returns another type than f64 that has all numbers of the expression, by turns.
std::string another_type(const std::string& expression, std::size_t number) {
  Formats types{"i64", "i32", "bf16", "f16"};
  const bool counts =
      expression.find("i <") != std::string::npos || expression.find("2 * i") != std::string::npos;
  const bool subtracts = expression.find(" - ") != std::string::npos;
  if (!counts) types.insert(types.end(), {"i16", "i8"});
  if (!counts && !subtracts) types.insert(types.end(), {"u8", "u16", "u32", "u64"});
  if (!counts && !subtracts && expression.find("sum") == std::string::npos) types.emplace_back("bool");
  return types[number % types.size()];
}

/// Returns the expression, with a function of complex numbers of its first operand by turns.
std::string with_complex_function(std::string expression, std::size_t number) {
  static const Formats functions{"", "conj", "imag", "abs"};
  const std::string& function = functions[number / 2 % functions.size()];
  if (function.empty()) return expression;
  const std::string operand = "B(i,j)";
  return expression.replace(expression.find(operand), operand.size(), function + "(" + operand + ")");
}

/// The problem as f64, in another type or with an operand in a narrower one, and as complex numbers where
/// elements need no order. `turn` says which.
std::vector<problem::ProblemText> in_types(const problem::ProblemText& text, std::size_t turn) {
  std::vector<problem::ProblemText> all{text};
  if (text.expression.find('/') != std::string::npos) return all;  // integers have no quotients
  problem::ProblemText other = text;
  other.value_type = another_type(text.expression, turn);
  if (other.value_type == "bool") other.expression = "or-and: " + text.expression;
  if (turn % 8 == 7) {
    other.value_type = turn % 16 == 7 ? "f32" : "i32";
    other.formats["B"] += "@i8";
  }
  all.push_back(other);
  other = text;
  other.value_type = turn % 2 == 0 ? "c128" : "c64";
  other.expression = with_complex_function(text.expression, turn);
  if (turn % 8 == 3) other.formats["B"] += turn % 16 == 3 ? "@f32" : "@i8";
  if (problem::build(other).ok()) all.push_back(other);
  return all;
}

/// All problems, by a visitor that may leave most of them out.
template <class Visit>
void for_all(const Visit& visit) {
  static const std::vector<std::string> heads{"A(i,j) = ", "A(i) = sum(j)", "A = sum(i,j)"};
  for (const auto& expression : expressions()) {
    const bool two = expression.find('C') != std::string::npos;
    const bool three = expression.find('D') != std::string::npos;
    const Formats none{""};
    for (const auto& head : heads) {
      for (const auto& a : head == heads[0] ? written_formats() : none) {
        for (const auto& b : formats()) {
          for (const auto& c : two ? formats() : none) {
            for (const auto& d : three ? formats() : none) {
              if (three && !in_world(b, c, d)) continue;
              problem::ProblemText text;
              text.expression = head + (head == heads[0] ? expression : "(" + expression + ")");
              text.formats["B"] = b;
              if (!a.empty()) text.formats["A"] = a;
              if (!c.empty()) text.formats["C"] = c;
              if (!d.empty()) text.formats["D"] = d;
              visit(text);
            }
          }
        }
      }
    }
  }
}

// The same world without a C compiler: every access is checked against its array, and all of it takes
// minutes. The fast test takes every n-th, others each day.
TEST(InterpretedSmallWorld, AgreesWithDenseEvaluation) {
  const std::uint64_t seed = test_support::seed_of_the_day();
  SCOPED_TRACE("SCHAAS_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int failures = 0;
  std::size_t number = 0, kernels = 0;
  std::set<std::string> types;
  const auto check = [&](const problem::ProblemText& text) {
    const auto problem = problem::build(text).value();
    const auto failed = [&](const std::string& what) {
      ++failures;
      ADD_FAILURE() << what << test_support::described({}, problem, "");
    };
    const auto kernel = test_support::kernel_of({}, problem);
    if (!kernel.ok()) return failed(support::render(kernel.error()));
    const test_support::Trials trials(problem, inputs, random());
    const auto error = test_support::interpreted_error(*kernel, trials, 0, inputs, random);
    if (!error.empty()) return failed(error);
    types.insert(text.value_type);
    ++kernels;
  };
  for_all([&](const problem::ProblemText& text) {
    if (number++ % interpreted_step != seed % interpreted_step || failures >= 5) return;
    for (const auto& each : in_types(text, number / interpreted_step)) check(each);
  });
  EXPECT_GE(kernels, number / interpreted_step);
  EXPECT_EQ(types.size(), operators::value_types().size());
}

class SmallWorld : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SmallWorld, AgreesWithDenseEvaluation) {
  std::mt19937_64 random(20260303);
  int failures = 0;
  test_support::KernelQueue queue(inputs, random, [&](const std::string& what) {
    if (++failures <= 5) ADD_FAILURE() << what;
  });
  std::size_t number = 0;
  std::size_t accepted = 0;
  std::map<std::string, std::size_t> refused;
  const auto add = [&](const problem::ProblemText& text) {
    const auto problem = problem::build(text);
    ASSERT_TRUE(problem.ok()) << support::render(problem.error());
    const auto added = queue.add({}, *problem);
    ++(added.ok() ? accepted : refused[added.error().code]);
  };
  for_all([&](const problem::ProblemText& text) {
    if (number++ % step != GetParam() || failures >= 5) return;
    for (const auto& each : in_types(text, number / step)) add(each);
  });
  queue.finish();
  const std::size_t written = written_formats().size(), others = formats().size() - written;
  const std::size_t triples = written * written * written + 3 * others * 3 * 3;
  const std::size_t heads = written + 2;  // results of one, two and three operands
  EXPECT_EQ(heads * (8 * formats().size() + 6 * formats().size() * formats().size() + 50 * triples), number);
  for (const auto& [code, count] : refused) ADD_FAILURE() << code << " " << count;
  EXPECT_GE(accepted, number / step);
}

INSTANTIATE_TEST_SUITE_P(Shards, SmallWorld, ::testing::Range<std::size_t>(0, shards));

}  // namespace
}  // namespace schaas

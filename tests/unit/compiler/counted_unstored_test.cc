// Reductions that are split into what is stored and what is not: their texts, and that they mean what the
// request does.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/problem_of.h"

namespace schaas {
namespace {

problem::Problem built(const std::string& expression, const std::string& type = "f64") {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = test_support::present(
      expression, {{"B", "csr"}, {"C", "csc"}, {"T", "dense,compressed,compressed"}, {"U", "csf"}});
  text.value_type = type;
  return problem::build(text).value();
}

std::string counted(const std::string& expression, const std::string& type = "f64") {
  return index_notation::print(built(expression, type).program());
}

// Issue 38: deviations from the mean of a column, and columns divided by their maximum, walked all elements.
TEST(CountedUnstored, AddsWhatIsNotStoredByItsNumber) {
  const std::string number = "B_unstored(j) = sum(i)(i >= 0) - sum(i)(B(i,j) != 0); ";
  EXPECT_EQ(counted("v(j) = sum(i)(abs(B(i,j) - m(j)))"),
            number +
                "v(j) = sum(i)(where(B(i,j) != 0,abs(B(i,j) - m(j)),0)) + where(B_unstored(j) != 0,"
                "B_unstored(j) * abs(0 - m(j)),0)");
  EXPECT_EQ(
      counted("m(j) = max(i)(abs(B(i,j)))"),
      number + "m(j) = max(max(i)(where(B(i,j) != 0,abs(B(i,j)),-inf)),where(B_unstored(j) != 0,0,-inf))");
  EXPECT_EQ(counted("m(j) = min(i)(B(i,j)); A(i,j) = B(i,j) - m(j) * (B(i,j) != 0)"),
            number +
                "m(j) = min(min(i)(where(B(i,j) != 0,B(i,j),inf)),where(B_unstored(j) != 0,0,inf)); "
                "A(i,j) = B(i,j) - m(j) * (B(i,j) != 0)");
}

TEST(CountedUnstored, CountsOnceForAllReductions) {
  const std::string text = counted("m(j) = max(i)(B(i,j)); n(j) = min(i)(B(i,j)); A(j) = m(j) - n(j)");
  EXPECT_EQ(text.find("B_unstored(j) = "), 0U);
  EXPECT_EQ(text.rfind("B_unstored(j) = "), 0U);
}

TEST(CountedUnstored, LeavesReductionsThatLoopsCount) {
  for (const std::string stays :
       {"m(i) = max(j)(B(i,j))", "m(j) = max(i)(C(i,j))", "s = max(i,j)(B(i,j))", "y(j) = B(i,j)",
        "y(j) = sum(i)(abs(B(i,j) - x(i)))", "y(j) = sum(i)(abs(B(i,j) - C(i,j)))",
        "m(j) = prod(i)(B(i,j) + 1)", "y(j) = sum(i)(1 / B(i,j))", "m(i) = max(j,k)(T(i,j,k))",
        "m(j,k) = max(i)(U(i,j,k))", "m(k) = max(i,j)(T(i,j,k))", "m(j) = max(i)(D(i,j))",
        "min-plus: m(j) = max(i)(B(i,j))"})
    EXPECT_EQ(counted(stays), stays);
  // Counts of f32 are exact up to 2^24 only.
  EXPECT_EQ(counted("m(j) = max(i)(B(i,j))", "f32"), "m(j) = max(i)(B(i,j))");
}

TEST(CountedUnstored, MeansWhatTheRequestDoes) {
  std::mt19937 random(20261130);
  const test_support::Extents extents{{"i", 4}, {"j", 3}, {"k", 2}};
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::string request :
       {"v(j) = sum(i)(abs(B(i,j) - m(j)))", "v(j) = max(i)(B(i,j))", "v(j) = min(i)(exp(B(i,j)) * m(j))",
        "v(j,k) = sum(i)(exp(T(i,j,k) * z(k)))", "v(j) = max(i,k)(T(i,j,k) + m(j))",
        "A(j,k) = sum(i)(exp(B(i,j) * z(k)))", "v(i) = sum(j)(pow(C(i,j) - u(i), 4))",
        "v(j) = sum(i)(where(B(i,j) > 1, m(j), 2 * m(j)))",
        "m2(j) = max(i)(B(i,j)); A(j) = sum(i)(exp(B(i,j) - m2(j)))"}) {
    SCOPED_TRACE(request);
    const auto asked = index_notation::parse(request).value();
    const auto problem = built(request);
    EXPECT_NE(index_notation::print(problem.program()), index_notation::print(asked));
    const std::map<std::string, std::vector<std::int64_t>> shapes{
        {"B", {4, 3}}, {"C", {4, 3}}, {"T", {4, 3, 2}}, {"m", {3}}, {"u", {4}}, {"z", {2}}};
    for (const double missing : {0.0, 0.5, 1.0}) {
      std::map<std::string, test_support::DenseTensor> operands;
      for (const auto& [tensor, shape] : shapes) {
        test_support::DenseTensor made = test_support::zeros(shape);
        for (double& value : made.values) {
          value = std::uniform_real_distribution<double>(-2, 2)(random);
          const bool sparse = tensor == "B" || tensor == "C" || tensor == "T";
          if (sparse && std::uniform_real_distribution<double>(0, 1)(random) < missing) value = 0;
          if (!sparse && missing == 0 && tensor == "m") value = infinity;  // no element has this value
        }
        operands[tensor] = std::move(made);
      }
      const auto want = test_support::evaluate(asked, operands, extents);
      const auto got = test_support::evaluate(problem.program(), operands, extents);
      EXPECT_LT(test_support::relative_error(got.value, want), 1e-12) << missing;
    }
  }
}

}  // namespace
}  // namespace schaas

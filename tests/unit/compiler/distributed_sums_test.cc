// Products that are distributed over sums of a sparse operand and of products in its indices: their texts,
// and that they mean what the request does.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/canonical.h"
#include "tests/support/dense_oracle.h"
#include "tests/support/problem_of.h"

namespace schaas {
namespace {

using Formats = std::map<std::string, std::string>;

/// `formats`: also of tensors that the expression does not have.
problem::Problem built(const std::string& expression, const Formats& formats) {
  return test_support::problem_of(expression, test_support::present(expression, formats));
}

/// The statements of the problem that is built of a request.
std::string distributed(const std::string& expression, const Formats& formats = {{"B", "csr"}}) {
  return index_notation::print(built(expression, formats).program());
}

// Issue 38: a nest of both orders copied the matrix in every call.
TEST(DistributedSums, SetStorageOrdersThatContradictEachOtherApart) {
  const Formats csr = {{"B", "csr"}, {"C", "csc"}, {"A", "csr"}};
  EXPECT_EQ(distributed("y(i) = (B(i,j) + B(j,i)) * x(j)", csr),
            "y(i) = sum(j)(B(i,j) * x(j)) + sum(j)(B(j,i) * x(j))");
  EXPECT_EQ(distributed("y(i) = (B(i,j) - 2 * C(i,j)) * x(j)", csr),
            "y(i) = sum(j)(B(i,j) * x(j)) - 2 * sum(j)(C(i,j) * x(j))");
  EXPECT_EQ(distributed("min-plus: y(i) = (B(i,j) + B(j,i)) * x(j)", csr),
            "min-plus: y(i) = min(j)(B(i,j) * x(j)) + min(j)(B(j,i) * x(j))");
  for (const std::string stays : {"y(i) = (B(i,j) + B(i,j)) * x(j)", "A(i,k) = (B(i,j) + B(j,i)) * C(j,k)",
                                  "y(i) = (B(i,j) + B(j,i) + D(i,j)) * x(j)"})
    EXPECT_EQ(distributed(stays, csr), stays);
}

TEST(DistributedSums, SetTheSparseTermApart) {
  const std::map<std::string, std::string> cases = {
      {"A(i,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * Y(j,k)",
       "A(i,k) = sum(j)(B(i,j) * Y(j,k)) - sum(j,l)(Y(j,l) * Y(j,k) * X(i,l))"},
      {"A(i,k) = (B(i,j) + x(i) * y(j)) * Y(j,k)",
       "A(i,k) = sum(j)(B(i,j) * Y(j,k)) + x(i) * sum(j)(y(j) * Y(j,k))"},
      {"y(i) = sum(j)(B(i,j) - u(i) * v(j))", "y(i) = sum(j)(B(i,j)) - u(i) * sum(j)(v(j))"},
      {"A(i,k) = (B(i,j) + 2) * Y(j,k)", "A(i,k) = sum(j)(B(i,j) * Y(j,k)) + 2 * sum(j)(Y(j,k))"},
      {"A(i,k) = 3 * X(i,k) - (B(i,j) - u(i)) * Y(j,k)",
       "A(i,k) = 3 * X(i,k) - (sum(j)(B(i,j) * Y(j,k)) - u(i) * sum(j)(Y(j,k)))"},
      {"y(i) = exp(B(i,j)) * x(j)", "y(i) = sum(j)((exp(B(i,j)) - 1) * x(j)) + sum(j)(x(j))"},
      {"s = sum(i,j)(pow(B(i,j) - sum(k)(X(i,k) * Y(j,k)), 2))",
       "s = sum(i,j)(B(i,j) * B(i,j)) - 2 * sum(i,j,k)(B(i,j) * X(i,k) * Y(j,k)) + "
       "sum(i,k,k_2,j)(X(i,k) * X(i,k_2) * Y(j,k) * Y(j,k_2))"},
      {"s = sum(i,j)((B(i,j) - x(i) * y(j)) * (B(i,j) - x(i) * y(j)))",
       "s = sum(i,j)(B(i,j) * B(i,j)) - 2 * sum(i,j)(B(i,j) * x(i) * y(j)) + sum(i)(x(i) * x(i)) * "
       "sum(j)(y(j) * y(j))"},
      {"s = sum(i,j)(pow(B(i,j) - u(i) - v(j), 2))",
       "s = sum(i,j)(B(i,j) * B(i,j)) - 2 * sum(i,j)(B(i,j) * u(i)) - 2 * sum(i,j)(B(i,j) * v(j)) + "
       "sum(i)(u(i) * u(i)) * sum(j)(j >= 0) + 2 * sum(i)(u(i)) * sum(j)(v(j)) + "
       "sum(i)(i >= 0) * sum(j)(v(j) * v(j))"},
      {"Q = sum(i,j)((B(i,j) - u(i) * v(j) / m) * X(i,k) * Y(j,k))",
       "Q = sum(k)(sum(i,j)(B(i,j) * X(i,k) * Y(j,k)) - 1 / m * sum(i)(u(i) * X(i,k)) * sum(j)(v(j) * "
       "Y(j,k)))"},
      {"s = sum(i,j)((1 + 2 * B(i,j)) * pow((B(i,j) > 0) - sum(k)(X(i,k) * Y(j,k)), 2))",
       "s = sum(i,j)((B(i,j) > 0) * (B(i,j) > 0)) - 2 * sum(i,j,k)((B(i,j) > 0) * X(i,k) * Y(j,k)) + "
       "sum(i,k,k_2,j)(X(i,k) * X(i,k_2) * Y(j,k) * Y(j,k_2)) + 2 * sum(i,j)(B(i,j) * "
       "((B(i,j) > 0) - sum(k)(X(i,k) * Y(j,k))) * ((B(i,j) > 0) - sum(k)(X(i,k) * Y(j,k))))"},
      {"l(i) = log(sum(j)(exp(B(i,j)) * x(j)))",
       "l(i) = log(sum(j)((exp(B(i,j)) - 1) * x(j)) + sum(j)(x(j)))"},
  };
  for (const auto& [request, statement] : cases) EXPECT_EQ(distributed(request), statement);
}

TEST(DistributedSums, BecomePartOfTheirOnlyReader) {
  EXPECT_EQ(distributed("T(i,j) = B(i,j) - X(i,l) * Y(j,l); A(i,k) = T(i,j) * Y(j,k)"),
            "A(i,k) = sum(j)(B(i,j) * Y(j,k)) - sum(j,l)(Y(j,l) * Y(j,k) * X(i,l))");
  EXPECT_EQ(distributed("T(i,j) = B(i,j) + d(j); A(i,k) = T(i,j) * T(j,k) * C(i,k)",
                        {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}),
            "A(i,k) = C(i,k) * sum(j)(B(i,j) * B(j,k)) + d(k) * C(i,k) * sum(j)(B(i,j)) + "
            "C(i,k) * sum(j)(d(j) * B(j,k)) + d(k) * C(i,k) * sum(j)(d(j))");
  EXPECT_EQ(distributed("T(a,b) = B(a,b) - x(a) * y(b); A(i) = T(i,j) * v(j)"),
            "A(i) = sum(j)(B(i,j) * v(j)) - x(i) * sum(j)(y(j) * v(j))");
  // Programs of derivatives.
  EXPECT_EQ(
      distributed(
          "T(i,j) = sum(k)(X(i,k) * Y(j,k)); dT(i,j) = -(2 * (B(i,j) - T(i,j))); dX(i,k) = dT(i,j) * Y(j,k)"),
      "dX(i,k) = -(2 * sum(j)(B(i,j) * Y(j,k))) + 2 * sum(j,k_2)(Y(j,k_2) * Y(j,k) * X(i,k_2))");
  EXPECT_EQ(
      distributed(
          "T(i,j) = B(i,j) - sum(k)(X(i,k) * Y(j,k)); dT(i,j) = 2 * T(i,j); dX(i,k) = -(dT(i,j) * Y(j,k))"),
      "dX(i,k) = -(2 * sum(j)(B(i,j) * Y(j,k)) - 2 * sum(j,k_2)(Y(j,k_2) * Y(j,k) * X(i,k_2)))");
  const std::string twice = "T(i,j) = B(i,j) - x(i) * y(j); S(i) = T(i,j) * x(j); A(i) = T(i,j) * S(j)";
  EXPECT_EQ(distributed(twice), twice);
}

TEST(DistributedSums, StayWhereNothingIsWon) {
  const Formats formats = {{"B", "csr"}, {"C", "csr"}};
  for (const std::string request :
       {"A(i,k) = B(i,j) * (X(i,k) + Y(j,k))",     // the product is sparse already
        "A(i,k) = (B(i,j) + C(i,j)) * Y(j,k)",     // so is every term
        "A(i,k) = (B(i,j) + D(i,j)) * Y(j,k)",     // a dense term has all elements
        "y(i) = (B(i,j) + u(i) * v(j)) * C(i,j)",  // another factor is sparse there
        "y(i) = (B(i,j) + u(i) * v(j)) * D(i,j)",  // or has all elements
        "s = sum(i,j)(pow(B(i,j) - m,2))", "y(i) = sum(j)(B(i,j) - u(i))",
        "y(i) = sum(j)(B(i,j) + 1)",               // counted by their number
        "A(i,j) = (B(i,j) + u(i) * v(j)) * w(j)",  // nothing is summed
        "y(i) = max(j)(B(i,j) + u(i) * v(j))"})    // no distribution over a maximum
    EXPECT_EQ(distributed(request, formats), request);
  EXPECT_EQ(distributed("A(i,k) = (B(i,j) + u(i) * v(j)) * Y(j,k)", {}),
            "A(i,k) = (B(i,j) + u(i) * v(j)) * Y(j,k)");
}

TEST(DistributedSums, MeanWhatTheRequestDoes) {
  std::mt19937 random(20261129);
  const test_support::Extents extents{{"i", 4}, {"j", 3},   {"k", 2},  {"l", 2},
                                      {"r", 2}, {"k_2", 2}, {"l_2", 2}};
  const std::map<std::string, std::vector<std::int64_t>> shapes{
      {"B", {4, 3}},    {"X", {4, 2}}, {"Y", {3, 2}}, {"Z", {2, 2}}, {"W", {2, 2}},
      {"E", {4, 3, 2}}, {"u", {4}},    {"v", {3}},    {"x", {3}},    {"m", {}}};
  for (const std::string request :
       {"A(i,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * Y(j,k)",
        "A(j,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * X(i,k)",
        "s = sum(i,j)(pow(B(i,j) - sum(k)(X(i,k) * Y(j,k)), 2))",
        "s = sum(i,j)((2 * B(i,j) - u(i) * v(j) - v(j)) * (2 * B(i,j) - u(i) * v(j) - v(j)))",
        "T(i,j) = B(i,j) - X(i,l) * Y(j,l); s = T(i,j) * T(i,j)",
        "T(i,j) = sum(k)(X(i,k) * Y(j,k)); F(i,j) = -(2 * (B(i,j) - T(i,j))); A(i,k) = F(i,j) * Y(j,k)",
        "s = sum(i,j)((1 + 2 * B(i,j)) * pow((B(i,j) > 0) - sum(k)(X(i,k) * Y(j,k)), 2))",
        "s = sum(i,j)(pow((B(i,j) > 0) - sum(k)(X(i,k) * Y(j,k)), 2) * (1 + 2 * B(i,j)))",
        "y(j) = (B(i,j) - u(i) * v(j) / m) / u(i) * u(i) / 2", "y(i) = -(B(i,j) - u(i) * v(j)) * x(j) * 3",
        "y(i) = u(i) - sum(j)((B(i,j) + u(i)) * x(j)) / 2", "y(i) = cos(B(i,j)) * x(j)",
        "A(i,k) = (exp(B(i,j)) - 1 + v(j)) * Y(j,k)",
        "A(i,r) = (E(i,j,k) - sum(l)(X(i,l) * Y(j,l) * Z(k,l))) * Y(j,r) * W(k,r)",
        "s = sum(i,j,k)(pow(E(i,j,k) - sum(l)(X(i,l) * Y(j,l) * Z(k,l)), 2))",
        "min-plus: A(i,k) = (B(i,j) + u(i) * v(j)) * Y(j,k)",
        "max-times: A(i,k) = (B(i,j) + u(i) * v(j)) * Y(j,k)"}) {
    SCOPED_TRACE(request);
    const auto asked = index_notation::parse(request);
    ASSERT_TRUE(asked.ok());
    const auto problem = built(request, {{"B", "csr"}, {"E", "csf"}});
    EXPECT_NE(index_notation::print(problem.program()), index_notation::print(*asked));
    std::map<std::string, test_support::DenseTensor> operands;
    std::uniform_real_distribution<double> value(0.5, 2);
    for (const auto& [tensor, shape] : shapes) {
      auto& dense = operands[tensor] = test_support::zeros(shape);
      for (double& one : dense.values) {
        const bool stored = (tensor != "B" && tensor != "E") || random() % 2 == 0;
        one = stored ? value(random) : asked->semiring->zero;
      }
    }
    const auto got = test_support::evaluate(problem.program(), operands, extents);
    EXPECT_LT(test_support::relative_error(got.value, test_support::evaluate(*asked, operands, extents)),
              1e-12);
  }
}

TEST(DistributedSums, HaveIndicesOfTheRequestForTheirExtents) {
  const std::string request = "s = sum(a,b)(pow(B(a,b) - sum(k)(X(a,k) * Y(b,k)), 2))";
  const auto problem = built(request, {{"B", "csr"}});
  const auto canonical = problem::canonicalize(problem, request);
  std::multiset<std::string> extents, names;
  for (const auto& [index, user] : canonical.user_extent) extents.insert(user);
  for (const auto& [index, user] : canonical.user_index) names.insert(user);
  EXPECT_EQ(extents, (std::multiset<std::string>{"a", "b", "k", "k"}));
  EXPECT_EQ(names, (std::multiset<std::string>{"a", "b", "k", "k_2"}));
  EXPECT_EQ(problem::canonicalize(problem).user_extent, canonical.user_index);
}

}  // namespace
}  // namespace schaas

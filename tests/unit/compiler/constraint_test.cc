#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/index_notation/parser.h"
#include "compiler/problem/constraint.h"
#include "compiler/problem/constraint_set.h"
#include "compiler/problem/polynomial.h"

// Constraints on sizes, from text to inequalities between polynomials with natural coefficients. Expected
// forms are written by hand, and each is printed and read again. Decimals are exact fractions; strict and
// fractional bounds are tightened to whole numbers. Simplifying a set twice must give what simplifying it
// once gave.
namespace schaas::problem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ConstraintScope scope{{"i", "j", "k", "nnz"},
                            {{"B", {"i", "j"}}, {"C", {"i", "j"}}, {"a", {}}, {"T", {"i", "j", "k"}}}};

std::vector<std::string> read(const std::string& text) {
  std::vector<std::string> out;
  const auto constraints = parse_constraint(text, scope).value();
  for (const auto& constraint : constraints) {
    const std::string printed = print(constraint);
    EXPECT_THAT(parse_constraint(printed, scope).value(), ElementsAre(constraint)) << printed;
    out.push_back(printed);
  }
  return out;
}

TEST(Constraint, BoundsAndChains) {
  EXPECT_THAT(read("8 <= k"), ElementsAre("8 <= k"));
  EXPECT_THAT(read("8 <= k <= 256"), ElementsAre("8 <= k", "k <= 256"));
  EXPECT_THAT(read("256 >= |k| >= 8"), ElementsAre("k <= 256", "8 <= k"));
  EXPECT_THAT(read("i <= j >= k"), ElementsAre("i <= j", "k <= j"));
  EXPECT_THAT(read("nnz <= 3"), ElementsAre("nnz <= 3"));  // an index may be called so
}

TEST(Constraint, EqualityIsTwoConstraints) {
  EXPECT_THAT(read("|i| == 64"), ElementsAre("i <= 64", "64 <= i"));
  EXPECT_THAT(read("i = 2*j"), ElementsAre("i <= 2*j", "2*j <= i"));
}

TEST(Constraint, StrictComparisonsAreOfWholeNumbers) {
  EXPECT_THAT(read("10*j < k"), ElementsAre("1 + 10*j <= k"));
  EXPECT_THAT(read("k > 7"), ElementsAre("8 <= k"));
  EXPECT_THAT(read("2*i < 2*j"), ElementsAre("1 + i <= j"));
  EXPECT_THAT(read("2*i < 5"), ElementsAre("i <= 2"));
  EXPECT_THAT(read("2*i < 4"), ElementsAre("i <= 1"));
}

TEST(Constraint, TightensToWholeNumbers) {
  EXPECT_THAT(read("2*k <= 5"), ElementsAre("k <= 2"));
  EXPECT_THAT(read("5 <= 2*k"), ElementsAre("3 <= k"));
  EXPECT_THAT(read("4*i + 6*j <= 7"), ElementsAre("2*i + 3*j <= 3"));
  EXPECT_THAT(read("k <= 2.5"), ElementsAre("k <= 2"));
}

TEST(Constraint, DensityIsMultipliedOut) {
  EXPECT_THAT(read("density(B) <= 1e-3"), ElementsAre("1000*nnz(B,2) <= i*j"));
  EXPECT_THAT(read("density(B) < 1e-3"), ElementsAre("1 + 1000*nnz(B,2) <= i*j"));
  EXPECT_THAT(read("1e-6 <= density(B) <= 1e-2"),
              ElementsAre("i*j <= 1000000*nnz(B,2)", "100*nnz(B,2) <= i*j"));
  EXPECT_THAT(read("density(T) <= density(B)"), ElementsAre("nnz(T,3) <= k*nnz(B,2)"));
  EXPECT_THAT(read("density(B)*density(C) <= 0.5"), ElementsAre("2*nnz(B,2)*nnz(C,2) <= i*i*j*j"));
  EXPECT_THAT(read("density(B)*|i|*j <= 7"), ElementsAre("nnz(B,2) <= 7"));
  EXPECT_THAT(read("2*(density(B) + density(C)) <= 1"), ElementsAre("2*nnz(B,2) + 2*nnz(C,2) <= i*j"));
}

TEST(Constraint, NonzerosByLevels) {
  EXPECT_THAT(read("nnz(T) <= 1e8"), ElementsAre("nnz(T,3) <= 100000000"));
  EXPECT_THAT(read("nnz(T,2) <= 4*nnz(T,1)"), ElementsAre("nnz(T,2) <= 4*nnz(T,1)"));
  EXPECT_THAT(read("nnz(B)/i <= 100"), ElementsAre("nnz(B,2) <= 100*i"));
}

TEST(Constraint, ArithmeticIsExact) {
  EXPECT_THAT(read("0.1*i + 0.2*i <= 0.3*j"), ElementsAre("i <= j"));
  EXPECT_THAT(read("i - j <= 5 - j + k"), ElementsAre("i <= k + 5"));
  EXPECT_THAT(read("(i + j)*(i - j) <= 0"), ElementsAre("i*i <= j*j"));
  EXPECT_THAT(read("i/3 <= j/7"), ElementsAre("7*i <= 3*j"));
  EXPECT_THAT(read("-i <= -8"), ElementsAre("8 <= i"));
  EXPECT_THAT(read("--i <= 8"), ElementsAre("i <= 8"));
  EXPECT_THAT(read("i <= 9223372036854775807"), ElementsAre("i <= 9223372036854775807"));
  EXPECT_THAT(read("i <= 9.223372036854775807e18"), ElementsAre("i <= 9223372036854775807"));
  EXPECT_THAT(read("density(B) <= 1e-18"), ElementsAre("1000000000000000000*nnz(B,2) <= i*j"));
}

TEST(Constraint, TriviallyTruePartsVanish) {
  EXPECT_THAT(read("0 <= i"), IsEmpty());
  EXPECT_THAT(read("i <= i"), IsEmpty());
  EXPECT_THAT(read("2 < 3"), IsEmpty());
  EXPECT_THAT(read("0 <= nnz(B) <= 5"), ElementsAre("nnz(B,2) <= 5"));
  EXPECT_THAT(read("-5 <= i"), IsEmpty());
}

TEST(Constraint, ZeroMayBeTheUpperBound) { EXPECT_THAT(read("nnz(B) < 1"), ElementsAre("nnz(B,2) <= 0")); }

TEST(Literal, IsAnExactFraction) {
  EXPECT_EQ(rational_of_literal("1e-3"), (Rational{1, 1000}));
  EXPECT_EQ(rational_of_literal("0.50"), (Rational{1, 2}));
  EXPECT_EQ(rational_of_literal(".25e1"), (Rational{5, 2}));
  EXPECT_EQ(rational_of_literal("100000000000000000000e-20"), (Rational{1, 1}));
  EXPECT_EQ(rational_of_literal("0e999999999999"), (Rational{0, 1}));
  EXPECT_EQ(rational_of_literal("1e999999999999"), std::nullopt);
  EXPECT_EQ(rational_of_literal("9223372036854775808"), std::nullopt);
}

std::vector<std::string> simplified(const std::string& expression, const std::vector<std::string>& texts) {
  const auto statements = index_notation::parse(expression).value().statements;
  std::vector<Constraint> all;
  for (const auto& text : texts) {
    const auto constraints = parse_constraint(text, scope).value();
    all.insert(all.end(), constraints.begin(), constraints.end());
  }
  const auto once = simplify(statements, all).value();
  EXPECT_EQ(simplify(statements, once).value(), once);
  std::vector<std::string> out;
  for (const auto& constraint : once) out.push_back(print(constraint));
  return out;
}

TEST(ConstraintSet, KeepsTheStrongestOfEachShape) {
  EXPECT_THAT(simplified("A(i,k) = B(i,j) * D(j,k)",
                         {"k <= 256", "8 <= k", "4 <= k", "k <= 1000", "i*j <= 9", "i*j <= 5"}),
              ElementsAre("i*j <= 5", "k <= 256", "8 <= k"));
}

TEST(ConstraintSet, OneModeOfOneTensorHasOneExtent) {
  EXPECT_THAT(simplified("A(i,k) = B(i,j) * B(j,k)", {"j <= 5", "k <= 7", "nnz(B) <= j*k"}),
              ElementsAre("i <= j", "i <= k", "i <= 5", "j <= i", "k <= i", "nnz(B,2) <= i*i"));
  EXPECT_THAT(simplified("A(i,k) = B(i,j) * B(k,j)", {"k <= 7"}), ElementsAre("i <= k", "i <= 7", "k <= i"));
}

TEST(ConstraintSet, FindsBoundsThatExcludeEachOther) {
  std::vector<Constraint> all;
  for (const std::string text : {"i <= 5", "j <= 9", "nnz(B) <= 3", "6 <= i"}) {
    all.push_back(parse_constraint(text, scope).value().front());
  }
  const auto found = find_contradiction(all);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 0U);
  EXPECT_EQ(found[0].second, 3U);
  EXPECT_EQ(found[0].least, 6);
  EXPECT_EQ(found[0].most, 5);
  all.pop_back();
  EXPECT_THAT(find_contradiction(all), IsEmpty());
}

}  // namespace
}  // namespace schaas::problem

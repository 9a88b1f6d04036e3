#include "compiler/merge_lattice/merge_lattice.h"

#include <gtest/gtest.h>

#include <limits>

// Iteration spaces of expressions as formulas over levels (Kjolstad et al., OOPSLA 2017; Henry et al., OOPSLA
// 2021). A case prints the coordinates to visit and the value elsewhere; both are derived by hand from the
// operator's value at unstored elements. A coordinate that is left out, or visited without need, changes the
// text.
namespace schaas::merge_lattice {
namespace {

using operators::Function;
using operators::plus_times;
using operators::semiring_named;

const LevelAccess level_b{0, 1};
const LevelAccess level_c{1, 1};
const LevelAccess level_d{2, 0};

Space b() { return stored(level_b, 0); }
Space c() { return stored(level_c, 0); }
Space d() { return stored(level_d, 0); }

/// "b&(c|d)", "every", "none"
std::string text(const Formula& formula) {
  switch (formula.kind) {
    case Formula::Kind::none:
      return "none";
    case Formula::Kind::every:
      return "every";
    case Formula::Kind::level:
      return std::string(1, static_cast<char>('b' + formula.level.operand));
    case Formula::Kind::intersection:
    case Formula::Kind::united:
      break;
  }
  std::string out;
  for (const auto& part : formula.parts) {
    if (!out.empty()) out += formula.kind == Formula::Kind::united ? '|' : '&';
    out += part.parts.empty() ? text(part) : "(" + text(part) + ")";
  }
  return out;
}

/// Prints the visited coordinates, and the value elsewhere.
std::string text(const Space& space) {
  std::string out = text(space.visited);
  if (space.otherwise) out += " else " + std::to_string(*space.otherwise).substr(0, 4);
  return out;
}

TEST(MergeLattice, ProductsIntersect) {
  EXPECT_EQ(text(product({b(), c()}, plus_times())), "b&c else 0.00");
  EXPECT_EQ(text(product({b(), anywhere()}, plus_times())), "b else 0.00");
  EXPECT_EQ(text(product({b(), literal(2), c(), b()}, plus_times())), "b&c else 0.00");
  EXPECT_EQ(text(product({anywhere(), anywhere()}, plus_times())), "every");
  EXPECT_EQ(text(product({literal(0), b()}, plus_times())), "none else 0.00");
}

TEST(MergeLattice, SumsUnite) {
  EXPECT_EQ(text(apply(Function::add, {b(), c(), d()})), "b|c|d else 0.00");
  EXPECT_EQ(text(apply(Function::subtract, {b(), c()})), "b|c else 0.00");
  EXPECT_EQ(text(apply(Function::add, {b(), anywhere()})), "every");
  EXPECT_EQ(text(apply(Function::add, {b(), literal(1)})), "b else 1.00");
}

TEST(MergeLattice, MixedExpressions) {
  const Space both = product({b(), c()}, plus_times());
  EXPECT_EQ(text(apply(Function::add, {both, d()})), "(b&c)|d else 0.00");
  EXPECT_EQ(text(product({b(), apply(Function::add, {c(), d()})}, plus_times())), "b&(c|d) else 0.00");
  EXPECT_EQ(text(apply(Function::add, {both, b()})), "b else 0.00");
  EXPECT_EQ(text(product({b(), apply(Function::add, {b(), d()})}, plus_times())), "b else 0.00");
}

TEST(MergeLattice, UnstoredDividendsAnnihilateQuotients) {
  EXPECT_EQ(text(apply(Function::divide, {b(), anywhere()})), "b else 0.00");
  EXPECT_EQ(text(apply(Function::divide, {b(), c()})), "b else 0.00");
  EXPECT_EQ(text(apply(Function::divide, {anywhere(), b()})), "every");
  EXPECT_EQ(text(apply(Function::divide, {literal(1), b()})), "b else inf");
}

TEST(MergeLattice, FunctionsThatKeepZero) {
  for (const auto function :
       {Function::relu, Function::sqrt, Function::abs, Function::sign, Function::sin, Function::tan,
        Function::tanh, Function::expm1, Function::log1p, Function::asin, Function::atan, Function::sinh,
        Function::erf, Function::ceil, Function::floor, Function::round})
    EXPECT_EQ(text(apply(function, {b()})), "b else 0.00") << operators::facts(function).name;
  EXPECT_EQ(text(apply(Function::negate, {b()}).visited), "b");
}

TEST(MergeLattice, FunctionsThatDoNotKeepZero) {
  EXPECT_EQ(text(apply(Function::exp, {b()})), "b else 1.00");
  EXPECT_EQ(text(apply(Function::cos, {b()})), "b else 1.00");
  EXPECT_EQ(text(apply(Function::cosh, {b()})), "b else 1.00");
  EXPECT_EQ(text(apply(Function::sigmoid, {b()})), "b else 0.50");
  EXPECT_EQ(text(apply(Function::logical_not, {b()})), "b else 1.00");
  EXPECT_EQ(text(apply(Function::log, {b()})), "b else -inf");
  EXPECT_EQ(text(apply(Function::subtract, {apply(Function::log, {b()}), apply(Function::log, {c()})})),
            "every");  // not a number
}

TEST(MergeLattice, MinimaMaximaComparisons) {
  EXPECT_EQ(text(apply(Function::maximum, {b(), c()})), "b|c else 0.00");
  EXPECT_EQ(text(apply(Function::minimum, {b(), literal(1)})), "b else 0.00");
  EXPECT_EQ(text(apply(Function::greater, {b(), c()})), "b|c else 0.00");
  EXPECT_EQ(text(apply(Function::greater_equal, {b(), c()})), "b|c else 1.00");
  EXPECT_EQ(text(apply(Function::logical_and, {b(), c()})), "b&c else 0.00");
  EXPECT_EQ(text(apply(Function::logical_and, {b(), anywhere()})), "b else 0.00");
  EXPECT_EQ(text(apply(Function::logical_or, {b(), c()})), "b|c else 0.00");
}

TEST(MergeLattice, Choices) {
  EXPECT_EQ(text(apply(Function::where, {b(), anywhere(), literal(0)})), "b else 0.00");
  EXPECT_EQ(text(apply(Function::where, {b(), c(), literal(0)})), "b&c else 0.00");
  EXPECT_EQ(text(apply(Function::where, {b(), c(), d()})), "d|(b&c) else 0.00");
  EXPECT_EQ(text(apply(Function::where, {b(), literal(1), c()})), "c|b else 0.00");
  EXPECT_EQ(text(apply(Function::where, {anywhere(), b(), c()})), "b|c else 0.00");
  EXPECT_EQ(text(apply(Function::where, {anywhere(), b(), literal(1)})), "every");
  EXPECT_EQ(text(apply(Function::where, {b(), literal(0), anywhere()})), "every");
}

TEST(MergeLattice, SemiringsHaveZerosOfTheirOwn) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto& min_plus = *semiring_named("min-plus");
  const Space far_b = stored(level_b, infinity);
  const Space far_c = stored(level_c, infinity);
  EXPECT_EQ(text(product({far_b, far_c}, min_plus)), "b&c else inf");
  EXPECT_EQ(text(product({far_b, anywhere()}, min_plus)), "b else inf");
  EXPECT_EQ(text(apply(Function::minimum, {far_b, far_c})), "b|c else inf");
  EXPECT_EQ(text(apply(Function::maximum, {far_b, anywhere()})), "b else inf");
  EXPECT_EQ(text(product({b(), c()}, *semiring_named("or-and"))), "b&c else 0.00");
}

TEST(MergeLattice, OnlyWhatChangesTheTargetIsVisited) {
  const Space product_space = product({b(), c()}, plus_times());
  EXPECT_EQ(text(contributing(product_space, 0)), "b&c");
  EXPECT_EQ(text(contributing(product_space, 1)), "every");  // a product over j: an absent factor is 0
  EXPECT_EQ(text(contributing(b(), -std::numeric_limits<double>::infinity())), "every");
  EXPECT_EQ(text(contributing(apply(Function::exp, {b()}), 1)), "b");
}

TEST(MergeLattice, FormulasAreSmall) {
  EXPECT_EQ(text(intersection({held(level_b), every(), held(level_b)})), "b");
  EXPECT_EQ(text(united({held(level_b), none(), united({held(level_c), held(level_b)})})), "b|c");
  EXPECT_EQ(text(intersection({})), "every");
  EXPECT_EQ(text(united({})), "none");
  EXPECT_EQ(levels_of(intersection({held(level_b), united({held(level_c), held(level_b), held(level_d)})})),
            std::vector<LevelAccess>{level_b});
}

}  // namespace
}  // namespace schaas::merge_lattice

#include <gtest/gtest.h>

#include "compiler/index_notation/gradient/gradient.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"

// Programs of derivatives as texts; tests/property/gradient_test.cc compares their values with differences.
namespace schaas::index_notation {
namespace {

std::string told(const support::Result<Program>& made) {
  return made.ok() ? print(*made) : support::render(made.error());
}

std::string derivative_of(const std::string& text, const GradientOptions& options) {
  const auto program = parse(text);
  EXPECT_TRUE(program.ok() && verify(*program, text).ok()) << text;
  return told(gradient(*program, options, text));
}
std::string derivative_of(const std::string& text, const std::string& of, std::set<std::string> sparse = {}) {
  return derivative_of(text, {of, "", "", std::move(sparse)});
}

TEST(Gradient, MultipliesByTheSeedWhatElseTheProductHas) {
  EXPECT_EQ("dX(j,k) = dY(i,k) * A(i,j)", derivative_of("Y(i,k) = A(i,j) * X(j,k)", "X"));
  EXPECT_EQ("dD(j,k) = dA(i,l) * B(i,j) * C(i,k) * E(j,l)",
            derivative_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "D"));
  EXPECT_EQ("dX(j,k) = dY(i,k) * A(i,j)", derivative_of("Y(i,k) = sum(j)(A(i,j) * X(j,k))", "X"));
}

TEST(Gradient, HasNoSeedForAScalarUnlessOneIsNamed) {
  EXPECT_EQ("dx(i) = 2 * x(i) + 1", derivative_of("s = x(i) * x(i) + x(i)", "x"));
  EXPECT_EQ("g(i) = 2 * w * x(i)", derivative_of("s = x(i) * x(i)", {"x", "w", "g", {}}));
}

TEST(Gradient, AddsUpEveryReadingUnderOneSetOfIndices) {
  EXPECT_EQ("dx(i) = A(i,j) * x(j) + x(j) * A(j,i)", derivative_of("s = x(i) * A(i,j) * x(j)", "x"));
  EXPECT_EQ("dA(i,j) = dC(i,k) * A(j,k) + dC(k,j) * A(k,i)", derivative_of("C(i,k) = A(i,j) * A(j,k)", "A"));
}

TEST(Gradient, OfASparseOperandHasItsEntries) {
  EXPECT_EQ("dB(i,j) = (B(i,j) != 0) * dY(i,k) * X(j,k)",
            derivative_of("Y(i,k) = B(i,j) * X(j,k)", "B", {"B"}));
  EXPECT_EQ("dB(i,j) = 2 * B(i,j)", derivative_of("s = B(i,j) * B(i,j)", "B", {"B"}));
}

TEST(Gradient, MasksSeveralTermsOnce) {
  EXPECT_EQ("dA(i,j) = (A(i,j) != 0) * (sum(k)(dC(i,k) * A(j,k)) + sum(k)(dC(k,j) * A(k,i)))",
            derivative_of("C(i,k) = A(i,j) * A(j,k)", "A", {"A"}));
}

TEST(Gradient, KeepsTheStatementsItReads) {
  EXPECT_EQ("T(i) = sum(j)(A(i,j) * x(j)); dT(i) = dy(i) * (T(i) - b(i) > 0); dx(j) = dT(i) * A(i,j)",
            derivative_of("y(i) = relu(sum(j)(A(i,j) * x(j)) - b(i))", "x"));
  EXPECT_EQ("E(i) = exp(x(i)); dE(i) = 2 * E(i); dx(i) = dE(i) * E(i)",
            derivative_of("E(i) = exp(x(i)); s = E(i) * E(i)", "x"));
  EXPECT_EQ("dT(j) = dy(i) * A(i,j); dx(j) = 3 * dT(j)",
            derivative_of("T(j) = 3 * x(j); y(i) = A(i,j) * T(j)", "x"));
}

TEST(Gradient, OfQuotientsAndPowers) {
  EXPECT_EQ("dx(i) = dy(i) / z(i)", derivative_of("y(i) = x(i) / z(i)", "x"));
  EXPECT_EQ("dz(i) = -(dy(i) * x(i) / (z(i) * z(i)))", derivative_of("y(i) = x(i) / z(i)", "z"));
  EXPECT_EQ("dx(i) = 3 * dy(i) * pow(x(i),2)", derivative_of("y(i) = pow(x(i), 3)", "x"));
}

TEST(Gradient, ChoosesBetweenSlopes) {
  EXPECT_EQ("dx(i) = dy(i) * where(x(i) > 0,1 / x(i),0)",
            derivative_of("y(i) = where(x(i) > 0, log(x(i)), 0)", "x"));
  EXPECT_EQ("dx(i) = 0.5 * dy(i) * ((x(i) > z(i)) + (x(i) >= z(i)))",
            derivative_of("y(i) = max(x(i), z(i))", "x"));
}

TEST(Gradient, IsSharedByEqualElementsOfAnExtremum) {
  EXPECT_EQ(
      "y(i) = max(j)(X(i,j)); N(i) = sum(j)(X(i,j) == y(i)); dX(i,j) = dy(i) * (X(i,j) == y(i)) / "
      "max(N(i),1)",
      derivative_of("y(i) = max(j)(X(i,j))", "X"));
}

TEST(Gradient, CountsIterationsWhereTheSlopeLacksAnIndex) {
  EXPECT_EQ("db(i) = sum(j)(dy(i) * or(x(j),1))", derivative_of("y(i) = sum(j)(A(i,j) * x(j) + b(i))", "b"));
}

TEST(Gradient, OfAConstantIsZero) {
  EXPECT_EQ("dx(i) = and(x(i),0)", derivative_of("y(i) = sign(x(i))", "x"));
}

TEST(Gradient, OfAnUpdateReadsTheFormerResult) {
  EXPECT_EQ("dx(i) = 0.5 * dY(i) * ((x(i) > Y(i)) + (x(i) >= Y(i)))", derivative_of("Y(i) max= x(i)", "x"));
  EXPECT_EQ("dx(j) = dY(i) * A(i,j)", derivative_of("Y(i) += A(i,j) * x(j)", "x"));
  EXPECT_EQ("dY(i) = dY_2(i)", derivative_of("Y(i) += A(i,j) * x(j)", "Y"));
}

TEST(Gradient, MasksWhatMattersAtTheEntriesAlone) {
  EXPECT_EQ(
      "T(i,j) = Q(i,k) * K(j,k); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); dS(i) = -(dY(i,l) * E(i,j) * "
      "V(j,l) / (S(i) * S(i))); "
      "dE(i,j) = (B(i,j) != 0) * (sum(l)(dY(i,l) * V(j,l) / S(i)) + dS(i)); dT(i,j) = dE(i,j) * E(i,j); "
      "dQ(i,k) = dT(i,j) * K(j,k)",
      derivative_of("T(i,j) = Q(i,k) * K(j,k); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); Y(i,l) = E(i,j) "
                    "/ S(i) * V(j,l)",
                    "Q", {"B"}));
}

TEST(Gradient, SharesCostlyCalls) {
  EXPECT_EQ(
      "P(i,j) = exp(s(i) + t(j)); E(i,j) = B(i,j) * P(i,j); Z(i) = E(i,j); dZ(i) = -(dH(i) * E(i,j) * x(j) / "
      "(Z(i) * Z(i))); "
      "dE(i,j) = (B(i,j) != 0) * (dH(i) * x(j) / Z(i) + dZ(i)); dB(i,j) = (B(i,j) != 0) * dE(i,j) * P(i,j)",
      derivative_of("E(i,j) = B(i,j) * exp(s(i) + t(j)); Z(i) = E(i,j); H(i) = E(i,j) * x(j) / Z(i)", "B",
                    {"B"}));
}

// Eight factors and a seed that is one more.
TEST(Gradient, ComputesPartsBeforeWhereAProductIsTooLong) {
  EXPECT_EQ("V(i) = dy(i) * b(i); dx(j) = V(i) * A(i,j) * c(i) * d(j) * e(j) * f(j) * g(j) * exp(x(j))",
            derivative_of("y(i) = A(i,j) * b(i) * c(i) * d(j) * e(j) * f(j) * g(j) * exp(x(j))", "x"));
}

TEST(Gradient, SaysWhatIsRefused) {
  EXPECT_EQ("invalid [unknown-tensor]: `y(i) = A(i,j) * xs(j)` has no operand `x`; did you mean `xs`?",
            derivative_of("y(i) = A(i,j) * xs(j)", "x"));
  EXPECT_EQ(
      "invalid [unknown-tensor]: `T` is an intermediate of `T(i) = x(i); y(i) = T(i) + T(i)`\n"
      "  note: differentiate with respect to an operand; to have the derivative by an intermediate, pass it "
      "as one",
      derivative_of("T(i) = x(i); y(i) = T(i) + T(i)", "T"));
  EXPECT_EQ("invalid [name-taken]: `z` stands in the program already",
            derivative_of("y(i) = x(i) * z(i)", {"x", "z", "", {}}));
  EXPECT_EQ("invalid [syntax]: `d x` is no name: letters, digits and `_`, a letter first",
            derivative_of("y(i) = x(i) * z(i)", {"x", "", "d x", {}}));
  EXPECT_EQ(
      "unsupported [gradient]: `B(i,i)` reads a diagonal, and its derivative would write one\n"
      "  note: read all elements and multiply by an identity matrix, as in `B(i,j) * E(i,j)`",
      derivative_of("a = B(i,i)", "B"));
  EXPECT_EQ(
      "unsupported [gradient]: `min-plus: D(i,k) = B(i,j) * C(j,k)` is under min-plus; derivatives are of "
      "sums and products\n"
      "  note: write reductions out, as in `D(i,k) = min(j)(B(i,j) + C(j,k))`",
      derivative_of("min-plus: D(i,k) = B(i,j) * C(j,k)", "B"));
  EXPECT_EQ(
      "unsupported [gradient]: the derivative `dT(k,i) = 1; dB(i) = dT(k,i)` does not read the tensors that "
      "tell an extent\n"
      "  note: write the sum out over a tensor that has the index",
      derivative_of("T(k,i) = B(i); a = T(k,i) + C(k)", "B"));
}

TEST(Gradient, RefusesIndicesAndComplexFunctionsWithTheirPlace) {
  EXPECT_EQ(
      "unsupported [gradient]: `i` is an index; its coordinates are whole numbers, which have no derivative\n"
      "  --> expression:1:15\n"
      "  | y(i) = x(i) * i\n"
      "  |               ^\n"
      "  note: give the numbers in an operand, as in `t(i)`, and differentiate by that",
      derivative_of("y(i) = x(i) * i", "i"));
  EXPECT_EQ(
      "unsupported [gradient]: `j` is an index; its coordinates are whole numbers, which have no derivative\n"
      "  note: give the numbers in an operand, as in `t(j)`, and differentiate by that",
      derivative_of("y(i) = A(i,j)", "j"));
  for (const std::string function : {"conj", "real", "imag"})
    EXPECT_EQ("unsupported [gradient]: `" + function +
                  "(x(i))` has no derivative as real functions do\n"
                  "  --> expression:1:15\n"
                  "  | y(i) = z(i) * " +
                  function +
                  "(x(i))\n"
                  "  |               " +
                  "^" + std::string(function.size() + 5, '~') +
                  "\n"
                  "  note: compute with real and imaginary parts in operands of their own",
              derivative_of("y(i) = z(i) * " + function + "(x(i))", "x"));
}

}  // namespace
}  // namespace schaas::index_notation

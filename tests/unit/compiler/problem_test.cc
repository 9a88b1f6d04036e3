#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/index_notation/printer.h"
#include "compiler/problem/canonical.h"
#include "compiler/problem/masks.h"
#include "compiler/problem/rewrites/factors.h"
#include "compiler/problem/stored_intermediate.h"
#include "compiler/problem/upper_bounds.h"

// Problems from their texts: intermediates, masks, factors, matrices in blocks, position widths, canonical
// form. Transformed programs are compared with programs written by hand, and programs that must stay
// unchanged stand beside them. Equal problems under other names have one canonical text, and the key changes
// with each ingredient. Positions have 32 bits only where bounds prove that every level fits.
// tests/property/canonical_key_test.cc renames random problems.
namespace schaas::problem {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

using Formats = std::map<std::string, std::string>;

Problem make(const std::string& expression, const Formats& formats = {},
             const std::vector<std::string>& constraints = {}) {
  ProblemText text;
  text.expression = expression;
  text.formats = formats;
  text.constraints = constraints;
  return build(text).value();
}
int bits(const std::string& expression, const Formats& formats, const std::vector<std::string>& constraints) {
  return make(expression, formats, constraints).position_bits;
}
// The statement line of the canonical text.
std::string statement_of(const std::string& expression, const Formats& formats = {}) {
  const std::string text = canonicalize(make(expression, formats)).text;
  const std::size_t begin = text.find('\n') + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Problem, TensorsWithoutFormatAreDense) {
  const auto problem = make("A(i,l) = B(i,j) * C(j,l)", {{"B", "csr"}});
  EXPECT_TRUE(problem.formats.at("A").all_dense());
  EXPECT_EQ(format::print(problem.formats.at("B")), "dense,compressed:0,1");
  EXPECT_EQ(problem.value_type, ValueType::f64);
  EXPECT_EQ(problem.profile, Profile::standard);
}

TEST(Problem, ResultsInLocatedLevelsAreAskedForAsLists) {
  const auto problem = make("A(i,j) = B(i,j) * C(i,j)", {{"A", "hashed"}, {"B", "bitmap"}});
  EXPECT_EQ(format::print(problem.formats.at("A")), "dense,compressed:0,1");
  EXPECT_EQ(format::print(problem.formats.at("B")), "dense,bitmap:0,1");
  EXPECT_EQ(canonicalize(problem).text,
            canonicalize(make("A(i,j) = B(i,j) * C(i,j)", {{"A", "csr"}, {"B", "bitmap"}})).text);
}

TEST(Problem, ArgumentsAreTheResultThenOperandsOnce) {
  const auto problem = make("A(i,k) = C(i,j) * B(j,k) * C(i,j)");
  EXPECT_THAT(problem.tensors(), ElementsAre("A", "C", "B"));
  EXPECT_THAT(problem.indices_of("B"), ElementsAre("j", "k"));
  EXPECT_THROW(problem.indices_of("D"), support::InternalError);
}

TEST(Problem, PrintsInFixedOrderAndReadsBack) {
  const auto problem =
      make("A(i,l) = B(i,j) * C(j,l)", {{"B", "csc"}}, {"8 <= l <= 256", "density(B) <= 1e-3"});
  EXPECT_EQ(print(problem),
            "schaas-problem 1\n"
            "A(i,l) = B(i,j) * C(j,l)\n"
            "format A dense,dense:0,1\n"
            "format B dense,compressed:1,0\n"
            "format C dense,dense:0,1\n"
            "values f64\n"
            "positions 64\n"
            "profile default\n"
            "where l <= 256\n"
            "where 8 <= l\n"
            "where 1000*nnz(B,2) <= i*j\n");
  EXPECT_EQ(parse_problem(print(problem)).value(), problem);
}

TEST(Problem, IntermediatesAreNoArguments) {
  const auto problem = make("T(i,k) = B(i,j) * C(j,k); Y(i) = max(k)(T(i,k) * d(k)) + B(i,j)", {{"B", "csr"}},
                            {"nnz(B) <= 100", "k <= 64"});
  EXPECT_EQ(problem.intermediates.size(), 1U);
  EXPECT_THAT(problem.tensors(), ElementsAre("Y", "B", "C", "d"));
  EXPECT_THAT(problem.indices_of("T"), ElementsAre("i", "k"));
  EXPECT_THAT(problem.indices(), ElementsAre("i", "k", "j"));
  EXPECT_EQ(problem.formats.count("T"), 0U);
  EXPECT_EQ(problem.reads().size(), 4U);
  EXPECT_FALSE(is_contraction(problem));
  EXPECT_EQ(print(problem),
            "schaas-problem 1\n"
            "T(i,k) = B(i,j) * C(j,k); Y(i) = max(k)(T(i,k) * d(k)) + B(i,j)\n"
            "format Y dense:0\n"
            "format B dense,compressed:0,1\n"
            "format C dense,dense:0,1\n"
            "format d dense:0\n"
            "values f64\n"
            "positions 64\n"
            "profile default\n"
            "where k <= 64\n"
            "where nnz(B,2) <= 100\n");
  EXPECT_EQ(parse_problem(print(problem)).value(), problem);
}

TEST(Problem, ContractionsAreProductsWithNothingBeside) {
  const auto is = [](const std::string& expression) { return is_contraction(make(expression)); };
  EXPECT_TRUE(is("A(i,l) = B(i,j) * C(j,l)"));
  EXPECT_TRUE(is("a = b"));
  EXPECT_TRUE(is("A(i,l) += B(i,j) * C(j,l)"));
  EXPECT_TRUE(is("min-plus: A(i,l) = B(i,j) * C(j,l)"));
  EXPECT_TRUE(is("min-plus: A(i,l) min= B(i,j) * C(j,l)"));
  EXPECT_FALSE(is("A(i) max= B(i) * C(i)"));
  EXPECT_FALSE(is("A(i) = 2 * B(i)"));
  EXPECT_FALSE(is("A(i) = B(i) + C(i)"));
  EXPECT_FALSE(is("A(i,j) = B(i)"));
  EXPECT_FALSE(is("a = B(i,i)"));
  EXPECT_FALSE(is("T(i) = B(i); A(i) = T(i)"));
  EXPECT_TRUE(is("A(i) = sum(j)(B(i,j) * sum(k)(C(j,k)))"));
  EXPECT_FALSE(is("A(i) = max(j)(B(i,j))"));
}

// Extents of intermediates may be listed as coordinates.
TEST(PositionBits, CoverIntermediates) {
  const std::string program = "T(l) = C(l); a = B(i) * T(l)";
  const Formats formats = {{"B", "compressed"}};
  EXPECT_EQ(bits(program, formats, {"i <= 100"}), 64);
  EXPECT_EQ(bits(program, formats, {"i <= 100", "l <= 100"}), 32);
}

TEST(Canonical, ProgramsKeepTheirOrderAndLoseTheirNames) {
  const auto one = canonicalize(make("Tmp(r,c) = G(r,c) + 2; Out(r) += Tmp(r,c) + w(r)", {{"G", "csr"}},
                                     {"r <= 100", "nnz(G) <= 7*c"}));
  const auto other = canonicalize(
      make("X(a,b)=M(a,b)+2.0 ; Y(a) += (X(a,b) + u(a));", {{"M", "csr"}}, {"7*b >= nnz(M)", "100 >= a"}));
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(one.text.substr(0, one.text.find("\nformat")),
            "schaas-problem 1\nB(i,j) = C(i,j) + 2; A(i) += B(i,j) + D(i)");
  EXPECT_THAT(one.user_tensor,
              UnorderedElementsAre(Pair("A", "Out"), Pair("B", "Tmp"), Pair("C", "G"), Pair("D", "w")));
  EXPECT_EQ(canonicalize(one.problem).text, one.text);
  EXPECT_EQ(parse_problem(one.text).value(), one.problem);
}

std::string inlined(const std::string& program, const Formats& formats) {
  const Problem problem = make(program, formats, {});
  return index_notation::print(problem.program());
}

TEST(Intermediates, AreReadWhereTheirSparseOperandIsStored) {
  const Formats csr = {{"B", "csr"}};
  EXPECT_EQ(inlined("E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); Y(a,l) = E(a,b) / S(a) * F(b,l)", csr),
            "E_value(i,j) = exp(T(i,j)); S(i) = B(i,j) * E_value(i,j); "
            "Y(a,l) = B(a,b) * E_value(a,b) / S(a) * F(b,l)");
  EXPECT_EQ(inlined("E(i,j) = B(i,j) * exp(s(i)); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)", csr),
            "S(i) = B(i,j) * exp(s(i)); A(i,j) = B(i,j) * exp(s(i)) / S(i)");  // known before the loop over j
  EXPECT_EQ(inlined("E(i,j) = B(i,j) * exp(T(i,j)); A(i) = E(i,j)", csr), "A(i) = B(i,j) * exp(T(i,j))");
  EXPECT_EQ(inlined("E(i,j) = B(i,j) * sqrt(T(i,j)); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)", csr),
            "S(i) = B(i,j) * sqrt(T(i,j)); A(i,j) = B(i,j) * sqrt(T(i,j)) / S(i)");
  EXPECT_EQ(inlined("E(i,j) = 2 * B(i,j); Y(i,j) = E(j,i) * E(i,j) + 1", csr),
            "Y(i,j) = 2 * B(j,i) * 2 * B(i,j) + 1");
  for (const std::string zero : {"B(i,j)", "relu(B(i,j))", "B(i,j) / d(i)", "where(B(i,j) > 0,C(i,j),0)"})
    EXPECT_EQ(inlined("E(i,j) = " + zero + "; S(i) = E(i,j); y = S(i) * sum(j)(sqrt(E(i,j)))", csr),
              "S(i) = " + zero + "; y = S(i) * sum(j)(sqrt(" + zero + "))");
  const Formats both = {{"B", "csr"}, {"C", "csr"}};
  EXPECT_EQ(inlined("T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)", both),
            "A(i,l) = B(i,j) * C(j,k) * D(k,l)");
  EXPECT_EQ(inlined("T(i,k) = B(i,j) * C(j,k); A(k,i) = 2 * T(i,k)", both), "A(k,i) = 2 * B(i,j) * C(j,k)");
  for (const std::string stays : {"T(i,k) = B(i,j) * C(j,k); A(i,j) = T(i,k) * D(k,j)",
                                  "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) + D(i,k)",
                                  "T(i,k) = B(i,j) * D(j,k); A(i,l) = T(i,k) * C(k,l)"})
    EXPECT_EQ(inlined(stays, both), stays);
  EXPECT_EQ(inlined("D(j,i) = B(i,j) * 3; E(i,j) = D(j,i) * C(i,j); y = E(i,j)", csr),
            "y = 3 * B(i,j) * C(i,j)");
}

// Issue 38: a layer of graph attention held a matrix of all pairs.
TEST(Intermediates, ComputeOnceWhatReadersNeedAtEntriesOfASparseOperand) {
  const auto with_readers = [](const std::string& definition) {
    return inlined(definition + "; S(i) = E(i,j); A(i,j) = E(i,j) / S(i)", {{"B", "csr"}});
  };
  const auto expected = [](const std::string& value, const std::string& read) {
    return "E_value(i,j) = " + value + "; S(i) = " + read + "; A(i,j) = " + read + " / S(i)";
  };
  EXPECT_EQ(with_readers("E(i,j) = where(B(i,j) != 0, exp(s(i) + t(j)), 0)"),
            expected("exp(s(i) + t(j))", "where(B(i,j) != 0,E_value(i,j),0)"));
  EXPECT_EQ(with_readers("E(i,j) = B(i,j) * exp(s(i) + t(j)) / d(i)"),
            expected("exp(s(i) + t(j))", "B(i,j) * E_value(i,j) / d(i)"));
  EXPECT_EQ(with_readers("E(i,j) = exp(B(i,j)) - 1"),
            expected("exp(B(i,j)) - 1", "where(B(i,j) != 0,E_value(i,j),0)"));
  EXPECT_EQ(with_readers("E(i,j) = B(i,j) * exp(sum(k)(C(i,k) * D(j,k)))"),
            expected("exp(sum(k)(C(i,k) * D(j,k)))", "B(i,j) * E_value(i,j)"));
  for (const std::string stays : {"E(i,j) = exp(B(i,j)) + 1",                         // not zero at zero
                                  "E(i,j) = where(B(i,j) != 0,1,exp(s(i) + t(j)))"})  // chosen elsewhere
    EXPECT_EQ(with_readers(stays), stays + "; S(i) = E(i,j); A(i,j) = E(i,j) / S(i)");
}

TEST(Intermediates, AreInlinedWhereTheyAddSparseOperandsAndReadsShareNoMode) {
  const Formats all = {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}};
  EXPECT_EQ(inlined("T(i,j) = B(i,j) - 2 * C(i,j); A(i,k) = T(i,j) * T(j,k)", all),
            "A(i,k) = (B(i,j) - 2 * C(i,j)) * (B(j,k) - 2 * C(j,k))");
  EXPECT_EQ(inlined("T(i,j) = B(i,j) + C(i,j); A(i,j) = (T(i,j) + T(j,i)) / 2", all),
            "A(i,j) = (B(i,j) + C(i,j) + (B(j,i) + C(j,i))) / 2");
  for (const std::string stays : {"T(i,j) = B(i,j) + C(i,j); A(i,j) = T(i,j) * T(i,j)",  // row by row
                                  "T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * T(k,j)",  // column by column
                                  "T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * T(k,l)",  // sums
                                  "T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) + T(k,i)"})
    EXPECT_EQ(inlined(stays, all), stays);
  const std::string dense = "T(i,j) = B(i,j) + C(i,j); A(i,k) = T(i,j) * T(j,k)";
  EXPECT_EQ(inlined(dense, {{"B", "csr"}, {"C", "csr"}}), dense);
}

/// A, B and C by rows, those of them that the expression has.
Formats by_rows(const std::string& expression) {
  Formats out;
  for (const std::string tensor : {"A", "B", "C"}) {
    if (expression.find(tensor + "(") != std::string::npos) out[tensor] = "csr";
  }
  return out;
}

TEST(Factors, StandApartInSumsOfOneProduct) {
  const auto apart = [](const std::string& expression) { return inlined(expression, by_rows(expression)); };
  EXPECT_EQ(apart("A(i,k) = -B(i,j) * C(j,k)"), "A(i,k) = -1 * B(i,j) * C(j,k)");
  EXPECT_EQ(apart("A(i,k) = -sum(j)(B(i,j) * C(j,k) * 2) / (4 * d(i))"),
            "A(i,k) = -0.5 * B(i,j) * C(j,k) * (1 / d(i))");
  EXPECT_EQ(apart("A(i,k) = B(i,j) / (d(i) / e(k)) * C(j,k)"),
            "A(i,k) = B(i,j) * (1 / d(i)) * e(k) * C(j,k)");
  EXPECT_EQ(apart("A(i,k) = 2 * B(i,j) * C(j,k) / 2"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(apart("min-plus: A(i,k) = 2 * B(i,j) * 3 * C(j,k)"), "min-plus: A(i,k) = 5 * B(i,j) * C(j,k)");
  for (const std::string stays : {"A(i,j) = B(i,j) * 2",              // sums nothing
                                  "A(i,k) = B(i,j) * d(j) / C(j,k)",  // divides by what is not stored
                                  "A(i,k) = exp(d(i)) * 2 * B(i,j) * C(j,k)",     // a call that takes long
                                  "y(i) = sum(j)(B(i,j)) * sum(j)(C(i,j)) * 2"})  // an index of two sums
    EXPECT_EQ(apart(stays), stays);
}

// Issue 38: modularity visited all pairs, since a product with a divisor is not split.
TEST(Scales, StandOutsideSumsOfThreeElementsOrMore) {
  const auto outside = [](const std::string& expression) { return inlined(expression, by_rows(expression)); };
  EXPECT_EQ(outside("s = b - d(i) * d(j) * C(i,k) * C(j,k) / m"),
            "s = b - sum(i,j,k)(d(i) * d(j) * C(i,k) * C(j,k)) / m");
  EXPECT_EQ(outside("y(i) = x(i) + 2 * B(i,j) * C(j,k) * v(k) / (3 * m)"),
            "y(i) = x(i) + 2 * sum(j,k)(B(i,j) * C(j,k) * v(k)) / (3 * m)");
  EXPECT_EQ(outside("T(i) = 2 * B(i,j) * C(j,k) * v(k); y(i) = exp(T(i))"),
            "T(i) = 2 * sum(j,k)(B(i,j) * C(j,k) * v(k)); y(i) = exp(T(i))");
  for (const std::string stays :
       {"y(i) = x(i) + 2 * B(i,j) * v(j)",                   // nothing to split
        "y(i) = x(i) + B(i,j) * C(j,k) * v(k)",              // no scale
        "A(i,k) = D(i,k) + 2 * B(i,j) * C(j,l) * E(l,k)",    // appends
        "y(i) = x(i) + exp(v(j)) * B(i,j) * C(j,k) * v(k)",  // a function that the sum changes
        "min-plus: y(i) = x(i) + 2 * B(i,j) * C(j,k) * v(k)"})
    EXPECT_EQ(outside(stays), stays);
}

TEST(Factors, AreFunctionsOfTheElementsOfAContraction) {
  const auto contraction = [](const std::string& expression) -> std::string {
    const auto factors = factors_of(make(expression, by_rows(expression)));
    return factors ? index_notation::print(factors->contraction.statement) : "none";
  };
  EXPECT_EQ(contraction("A(i,k) = -B(i,j) * C(j,k)"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(contraction("A(i,k) = B(i,j) * C(j,k) / d(i)"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(contraction("A(i,k) = relu(B(i,j)) * abs(C(j,k)) * B(i,j)"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(contraction("A(i,k) = (B(i,j) > 0) * C(j,k)"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(contraction("y(i) = 3 * B(i,j) * B(i,j)"), "y(i) = B(i,j) * B(i,j)");
  EXPECT_EQ(contraction("max-times: A(i,k) = 2 * B(i,j) * C(j,k)"), "A(i,k) = B(i,j) * C(j,k)");
  EXPECT_EQ(contraction("A(i,k) = (j <= i) * B(i,j) * C(j,k) / (k + 1)"), "A(i,k) = B(i,j) * C(j,k)");
  for (const std::string none :
       {"A(i,k) = B(i,j) * C(j,k)", "A(i,j) = 2 * B(i,j)", "A(i,k) = B(i,j) * C(j,k) / D(i,k)",
        "A(i,k) = (B(i,j) + 1) * C(j,k)", "A(i,k) = (d(i) - e(i)) * B(i,j) * C(j,k)",
        "A(i,k) = (i <= k) * B(i,j) * C(j,k)",  // no operand has both indices
        "A(i,k) = where(j < i, B(i,j), 1) * C(j,k)", "T(i) = 2 * B(i,j); A(i,k) = T(i) * C(i,k)"})
    EXPECT_EQ(contraction(none), "none");
}

TEST(Intermediates, SumsReadBySeveralStatementsStayWhereOneMaskServesAll) {
  const Formats csr = {{"B", "csr"}};
  EXPECT_EQ(
      inlined(
          "T(i,j) = C(i,k) * D(k,j); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); A(i,j) = E(i,j) / S(i)",
          csr),
      "T(i,j) = C(i,k) * D(k,j); E_value(i,j) = exp(T(i,j)); S(i) = B(i,j) * E_value(i,j); A(i,j) = B(i,j) * "
      "E_value(i,j) / S(i)");
  // Read with another operand's index: computed by each reader, where it needs it.
  EXPECT_EQ(inlined("T(i) = C(i,k) * D(k); S(i) = B(i,j) / T(i); A(a,b) = B(a,b) * T(a) * S(a)", csr),
            "S(i) = B(i,j) / sum(k)(C(i,k) * D(k)); A(a,b) = B(a,b) * sum(k)(C(a,k) * D(k)) * S(a)");
  for (const std::string stays :
       {"T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) / T(i,j)",                        // read once
        "T(i,j) = C(i,k) * D(k,j); S(i) = T(i,j); A(i,j) = B(i,j) * T(i,j) / S(i)",  // read everywhere
        "T(i,j) = C(i,k) * D(k,j); S(i) = T(i,j) / B(i,j); A(i,j) = B(i,j) * T(i,j) / S(i)",  // a divisor
        "T(i,j) = C(i,k) * D(k,j); S(i) = B(i,j) * T(i,j); A(k,j) = B(k,j) * T(k,j) / S(k)"})
    EXPECT_EQ(inlined(stays, csr), stays);
}

/// The masks that are possible, and the program with the first of them.
std::string masked(const std::string& program, const Formats& formats) {
  Formats used = formats;
  std::erase_if(used, [&](const auto& one) { return program.find(one.first + "(") == std::string::npos; });
  const Problem problem = make(program, used, {});
  std::string out;
  for (const auto& mask : possible_masks(problem)) {
    out += mask.tensor + ":";
    for (const auto& tensor : mask.by) out += " " + tensor;
    out += "; " + index_notation::print(with_mask(problem, mask).value().program());
  }
  return out;
}

TEST(Masks, AreTheUnionOfWhatReadingsNeed) {
  const Formats csr = {{"B", "csr"}, {"E", "csr"}};
  const std::string product = "T(i,j) = C(i,k) * D(k,j); ";
  EXPECT_EQ(masked(product + "S(i) = B(i,j) * exp(T(i,j)); A(i,j) = B(i,j) / T(i,j) * S(i) + E(i,j)", csr),
            "T: B; T(i,j) = B_stored(i,j) * C(i,k) * D(k,j); S(i) = B(i,j) * exp(T(i,j)); "
            "A(i,j) = B(i,j) / T(i,j) * S(i) + E(i,j)");
  EXPECT_EQ(masked(product + "S(i) = B(i,j) * T(i,j); A(i,j) = E(i,j) * T(i,j) * S(i)", csr),
            "T: B E; T(i,j) = or(B_stored(i,j),E_stored(i,j)) * C(i,k) * D(k,j); "
            "S(i) = B(i,j) * T(i,j); A(i,j) = E(i,j) * T(i,j) * S(i)");
  EXPECT_EQ(
      masked(product + "S(i) = B(i,j) * T(i,j) * E(i,j); A(i,j) = E(i,j) * T(i,j) * S(i)", csr).substr(0, 5),
      "T: E;");
  EXPECT_EQ(masked(product + "S(i) = B(i,j) * T(i,j); A(l,j) = B(l,j) * T(l,j) / S(l)", csr).substr(0, 5),
            "T: B;");
  EXPECT_EQ(masked("T(i,j) = relu(sum(k)(C(i,k) * D(k,j))) - c(j); S(i) = B(i,j) * T(i,j); A(i,j) = B(i,j) * "
                   "T(i,j) / S(i)",
                   csr),
            "T: B; T(i,j) = B_stored(i,j) * (relu(sum(k)(C(i,k) * D(k,j))) - c(j)); S(i) = B(i,j) * T(i,j); "
            "A(i,j) = B(i,j) * T(i,j) / S(i)");
  EXPECT_EQ(masked(product + "A(i,j) = B(i,j) * T(i,j)", csr), "")
      << "where one statement computes it is `share`'s";
  EXPECT_EQ(masked(product + "S(i) = B(i,j) + T(i,j); A(i,j) = B(i,j) * T(i,j) / S(i)", csr), "");
}

TEST(Intermediates, StayWhereInliningWouldNotHelp) {
  const std::string dense = "E(i,j) = B(i,j) * C(i,j); Y(i) = exp(C(i,i)) + sum(j)(E(i,j))";
  EXPECT_EQ(inlined(dense, {}), dense);
  const std::string sum = "E(i,j) = B(i,j) + C(i,j); Y(i) = sum(j)(exp(E(i,j)))";  // stored everywhere
  EXPECT_EQ(inlined(sum, {{"B", "csr"}}), sum);
  const std::string reduced = "E(i) = B(i,j) * C(j); Y(i,l) = E(i) * E(l)";  // would be summed again
  EXPECT_EQ(inlined(reduced, {{"B", "csr"}}), reduced);
}

/// "producer | consumer", or "" where the program stays one.
std::string parts(const std::string& expression, const Formats& formats) {
  ProblemText text;
  text.expression = expression;
  text.formats = formats;
  const auto found = stored_intermediate(text).value();
  return found ? found->producer.expression + " | " + found->consumer.expression : "";
}

TEST(StoredIntermediates, AreProductsOfSparseOperandsReadAtSeveralRows) {
  EXPECT_EQ(
      parts("T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * T(k,l)", {{"B", "csr"}, {"C", "csr"}, {"A", "csr"}}),
      "T(i,k) = B(i,j) * C(j,k) | A(i,l) = T(i,k) * T(k,l)");
  EXPECT_EQ(parts("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) + T(k,i)", {{"B", "csr"}, {"C", "csr"}}),
            "T(i,k) = B(i,j) * C(j,k) | A(i,k) = T(i,k) + T(k,i)");
}

TEST(StoredIntermediates, StayDenseByDefinitionOrWithinOneRow) {
  const Formats formats = {{"B", "csr"}, {"C", "csr"}, {"A", "csr"}};
  EXPECT_EQ(parts("T(i,k) = B(i,j) * X(j,k); A(i,l) = T(i,k) * T(k,l)", {{"B", "csr"}}), "");
  EXPECT_EQ(parts("T(i,k) = B(i,j) * C(j,k); A(i,l) = relu(T(i,k)) * X(k,l)", {{"B", "csr"}, {"C", "csr"}}),
            "");
  EXPECT_EQ(parts("T(i,k) = B(i,j) * C(j,k); S(i) = T(i,k); A(i,k) = T(i,k) / S(i)", formats), "");
  EXPECT_EQ(parts("T(i,k) = B(i,j) * C(j,k); s = T(i,k); A(i,k) = T(i,k) / s", formats),
            "T(i,k) = B(i,j) * C(j,k) | s = T(i,k); A(i,k) = T(i,k) / s");
}

TEST(StoredIntermediates, TakeTheStatementsAndConstraintsOfTheirPart) {
  ProblemText text;
  text.expression =
      "d(i) = B(i,j); T(i,k) = B(i,j) * d(j) * B(j,k); U(i,l) = T(i,k) * T(k,l); A(i,m) = U(i,l) * U(l,m) * "
      "X(m,n)";
  text.formats = {{"B", "csr"}, {"A", "csr"}, {"X", "csc"}};
  text.constraints = {"nnz(B) <= 100", "n <= 7"};
  const auto found = stored_intermediate(text).value();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->producer.expression, "d(i) = B(i,j); T(i,k) = B(i,j) * d(j) * B(j,k)");
  EXPECT_EQ(found->producer.formats, (Formats{{"B", "csr"}, {"T", "csr"}}));
  EXPECT_THAT(found->producer.constraints, ElementsAre("nnz(B) <= 100"));
  EXPECT_EQ(found->consumer.expression, "U(i,l) = T(i,k) * T(k,l); A(i,m) = U(i,l) * U(l,m) * X(m,n)");
  EXPECT_EQ(found->consumer.formats, (Formats{{"A", "csr"}, {"T", "csr"}, {"X", "csc"}}));
  EXPECT_THAT(found->consumer.constraints, ElementsAre("n <= 7"));
  EXPECT_EQ(parts(found->consumer.expression, found->consumer.formats),
            "U(i,l) = T(i,k) * T(k,l) | A(i,m) = U(i,l) * U(l,m) * X(m,n)");
}

TEST(StoredIntermediates, HaveTheSemiringOfTheirProgram) {
  EXPECT_EQ(
      parts("min-plus: T(i,k) = B(i,j) * B(j,k); A(i,l) = T(i,k) * T(k,l)", {{"B", "csr"}, {"A", "csr"}}),
      "min-plus: T(i,k) = B(i,j) * B(j,k) | min-plus: A(i,l) = T(i,k) * T(k,l)");
}

TEST(Canonical, SharedExtentsGoThroughIntermediates) {
  const auto key = [](const std::string& bound) {
    return canonicalize(make("T(i,j) = B(i) * 2 + C(j); Y(k) = T(k,l) + 1", {}, {bound})).key;
  };
  EXPECT_EQ(key("i <= 100"), key("k <= 100"));
  EXPECT_NE(key("i <= 100"), key("l <= 100"));
}

TEST(Canonical, SemiringsAndUpdatesAreInTheKey) {
  EXPECT_EQ(statement_of("min-plus: D(a,b)=W(b,c)*V(a,c)", {{"V", "csr"}}),
            "min-plus: A(i,k) = B(i,j) * C(k,j)");
  EXPECT_EQ(statement_of("D(a,b)+=W(b,c)*V(a,c)", {{"V", "csr"}}), "A(i,k) += B(i,j) * C(k,j)");
}

TEST(PositionBits, NarrowOnlyWhenProved) {
  const std::string spmm = "A(i,l) = B(i,j) * C(j,l)";
  const Formats csr = {{"B", "csr"}};
  EXPECT_EQ(bits(spmm, csr, {}), 64);
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "j <= 1e6"}), 64);  // up to 1e12 nonzeros
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "j <= 1e6", "nnz(B) <= 1e8"}), 32);
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "j <= 1e6", "density(B) <= 1e-3"}), 32);  // 1e9 nonzeros
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "j <= 1e6", "density(B) <= 1e-2"}), 64);  // 1e10
  EXPECT_EQ(bits(spmm, csr, {"i <= 40000", "j <= 40000"}), 32);                    // 1.6e9, all of them
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "nnz(B) <= 1e8"}), 64);                   // columns unbounded
  EXPECT_EQ(bits(spmm, csr, {"i <= 1e6", "2*j <= i", "nnz(B) <= 100*i"}), 32);     // by way of i
}

TEST(PositionBits, TheLimitIsExact) {
  const auto of = [](const std::string& most) {
    return bits("a = B(i)", {{"B", "compressed"}}, {"i <= " + most});
  };
  EXPECT_EQ(of("2147483647"), 32);
  EXPECT_EQ(of("2147483648"), 64);
}

TEST(PositionBits, EveryLevelCounts) {
  const Formats csf = {{"B", "csf"}};
  const std::vector<std::string> extents = {"i <= 1e5", "j <= 1e5", "k <= 1e5"};
  const auto with = [&](const std::string& constraint) {
    auto all = extents;
    all.push_back(constraint);
    return bits("a = B(i,j,k)", csf, all);
  };
  // A stored fibre leads to a stored value: fewer fibres than nonzeros.
  EXPECT_EQ(with("nnz(B) <= 1e9"), 32);
  EXPECT_EQ(with("nnz(B,2) <= 1e9"), 64);
  // A dense level stores every coordinate: i*j entries however few the nonzeros.
  EXPECT_EQ(bits("a = B(i,j,k)", {{"B", "dense,dense,compressed"}},
                 {"i <= 1e5", "j <= 1e5", "k <= 1e5", "nnz(B) <= 1e9"}),
            64);
}

TEST(PositionBits, DenseProblemsHaveNoPositions) {
  EXPECT_EQ(bits("a = B(i)", {}, {"i <= 10"}), 64);
  ProblemText text;
  text.expression = "a = B(i)";
  text.position_bits = "32";
  EXPECT_EQ(build(text)->position_bits, 64);
  text.formats["B"] = "compressed";
  EXPECT_EQ(build(text)->position_bits, 32);
}

TEST(UpperBounds, CarriesBoundsThroughChains) {
  const auto problem = make("A(i,l) = B(i,j) * C(j,l)", {{"B", "csr"}},
                            {"i <= 1000", "3*j + 1 <= 2*i", "l*l <= 100", "nnz(B) <= 4*i"});
  const auto bounds = upper_bounds(problem);
  const auto extent = [](const char* index) { return Symbol{Symbol::Kind::extent, index, 0}; };
  EXPECT_EQ(bounds.at(extent("i")), 1000);
  EXPECT_EQ(bounds.at(extent("j")), 666);
  EXPECT_EQ(bounds.count(extent("l")), 0U);
  EXPECT_EQ(bounds.at({Symbol::Kind::nonzeros, "B", 1}), 1000);
  EXPECT_EQ(bounds.at({Symbol::Kind::nonzeros, "B", 2}), 4000);
}

// The first level of coo has an entry for each nonzero, not for each row.
TEST(UpperBounds, EntriesOfANonuniqueLevelAreThoseOfItsChain) {
  const auto bounds = upper_bounds(make("a = B(i,j)", {{"B", "coo"}}, {"i <= 100", "j <= 20"}));
  EXPECT_EQ(bounds.at({Symbol::Kind::nonzeros, "B", 1}), 2000);
  EXPECT_EQ(bounds.at({Symbol::Kind::nonzeros, "B", 2}), 2000);
  const auto bounded = upper_bounds(make("a = B(i,j)", {{"B", "coo"}}, {"nnz(B,1) <= 7"}));
  EXPECT_EQ(bounded.at({Symbol::Kind::nonzeros, "B", 2}), 7);
}

TEST(Canonical, TheKernelsOfTheLiteratureStayReadable) {
  EXPECT_EQ(statement_of("A(i,l)=B(i,j)*C(i,k)*D(j,k)*E(j,l)", {{"B", "csr"}}),
            "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)");
  EXPECT_EQ(statement_of("A(i,m)=B(i,j)*C(i,k)*D(j,k)*E(j,l)*F(l,m)", {{"B", "csr"}}),
            "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)");
  EXPECT_EQ(statement_of("A(i,l)=B(i,k)*C(k,j)*D(k,j)*E(j,l)", {{"B", "csr"}}),
            "A(i,l) = B(i,j) * C(j,k) * D(j,k) * E(k,l)");
  EXPECT_EQ(statement_of("A(i,l)=B(i,j)*C(j,k)*D(k,l)", {{"B", "csr"}}), "A(i,l) = B(i,j) * C(j,k) * D(k,l)");
  EXPECT_EQ(statement_of("A(l,m,n)=B(i,j,k)*C(i,l)*D(j,m)*E(k,n)", {{"B", "csf"}}),
            "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)");
  EXPECT_EQ(statement_of("A(i,l,m)=B(i,j,k)*C(j,l)*D(k,m)", {{"B", "csf"}}),
            "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)");
  EXPECT_EQ(statement_of("A(i,j,m)=B(i,j,k)*C(k,l)*D(l,m)", {{"A", "csf"}, {"B", "csf"}}),
            "A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)");
  EXPECT_EQ(statement_of("A(i,m)=B(i,k,l)*C(l,j)*D(k,j)*E(j,m)", {{"B", "csf"}}),
            "A(i,m) = B(i,j,k) * C(j,l) * D(k,l) * E(l,m)");
}

TEST(Canonical, NamesAndFactorOrderDoNotMatter) {
  const auto one = canonicalize(make("A(i,l) = B(i,j) * C(j,l)", {{"B", "csr"}}, {"8 <= l <= 256"}));
  const auto other =
      canonicalize(make("Out(row,x) = W(c,x) * Graph(row,c)", {{"Graph", "csr"}}, {"257 > x > 7"}));
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(one.key, other.key);
  EXPECT_EQ(one.key.size(), 64U);
  EXPECT_THAT(other.user_tensor, UnorderedElementsAre(Pair("A", "Out"), Pair("B", "Graph"), Pair("C", "W")));
  EXPECT_THAT(other.user_index, UnorderedElementsAre(Pair("i", "row"), Pair("j", "c"), Pair("k", "x")));
  EXPECT_EQ(parse_problem(one.text).value(), one.problem);
}

TEST(Canonical, IsItsOwnCanonicalForm) {
  const auto once =
      canonicalize(make("Y(b) = M(b,a) * x(a) * w(b)", {{"M", "csc"}}, {"density(M) < 0.01", "a <= b"}));
  const auto twice = canonicalize(once.problem);
  EXPECT_EQ(twice.problem, once.problem);
  for (const auto& [canonical, user] : twice.user_tensor) EXPECT_EQ(canonical, user);
}

TEST(Canonical, KeysDependOnEveryIngredient) {
  const auto key = [](const ProblemText& text) { return canonicalize(build(text).value()).key; };
  ProblemText base;
  base.expression = "A(i,l) = B(i,j) * C(j,l)";
  base.formats["B"] = "csr";
  std::vector<ProblemText> others(8, base);
  others[0].expression = "A(l,i) = B(i,j) * C(j,l)";
  others[1].expression = "A(i,l) = B(j,i) * C(j,l)";
  others[2].formats["B"] = "csc";
  others[3].formats["A"] = "csr";
  others[4].value_type = "f32";
  others[5].position_bits = "32";
  others[6].profile = "sparseauto";
  others[7].constraints = {"l <= 256"};
  std::set<std::string> keys = {key(base)};
  for (const auto& text : others) keys.insert(key(text));
  EXPECT_EQ(keys.size(), 9U);
}

TEST(SpaceOptions, HaveOneTextWhateverTheOrder) {
  EXPECT_EQ(print(parse_space_options("row-blocks,shorter-fusion").value()), "shorter-fusion,row-blocks");
  EXPECT_EQ(print(parse_space_options("stored-producers,stored-producers").value()), "stored-producers");
  EXPECT_EQ(print(parse_space_options("all").value()), "shorter-fusion,stored-producers,row-blocks");
  EXPECT_EQ(print(parse_space_options("none").value()), "none");
  EXPECT_EQ(print(parse_space_options("").value()), "none");
}

TEST(SpaceOptions, UnknownOnesAreNamedWithTheNearest) {
  EXPECT_EQ(
      support::render(parse_space_options("row-blocks,shorter-fusions").error()),
      "invalid [space]: unknown part of the schedule space `shorter-fusions`, expected `shorter-fusion`, "
      "`stored-producers`, `row-blocks`, `copies`, `free-copies`, `all` or `none`; did you mean "
      "`shorter-fusion`?");
  EXPECT_EQ(parse_space_options("row-blocks,").error().code, "space");
}

TEST(SpaceOptions, ArePartOfTheKeyAndOfTheStoredText) {
  ProblemText text;
  text.expression = "A(i,l) = B(i,j) * C(j,l)";
  const Canonical plain = canonicalize(build(text).value());
  text.space = "row-blocks,shorter-fusion";
  const Canonical wider = canonicalize(build(text).value());
  EXPECT_NE(plain.key, wider.key);
  EXPECT_EQ(plain.text.find("space"), std::string::npos);
  EXPECT_NE(wider.text.find("\nspace shorter-fusion,row-blocks\n"), std::string::npos);
  EXPECT_EQ(parse_problem(wider.text).value(), wider.problem);
}

TEST(SpaceOptions, DoNotWidenThePublishedSpace) {
  ProblemText text;
  text.expression = "A(i,l) = B(i,j) * C(j,l)";
  text.profile = "sparseauto";
  text.space = "row-blocks";
  EXPECT_EQ(
      support::render(build(text).error()),
      "invalid [space]: profile sparseauto searches the published space, which `row-blocks` would widen");
}

TEST(BlockedMatrices, AreTensorsOfFourModes) {
  const auto problem = make("A(i,l) = B(i,j) * C(j,l)", {{"B", "bcsr(4, 2)"}, {"C", "dense:1,0"}});
  EXPECT_EQ(print(problem),
            "schaas-problem 1\n"
            "A(i_block,i_in,l) = B(i_block,j_block,i_in,j_in) * C(j_block,j_in,l)\n"
            "format A dense,dense,dense:0,1,2\n"
            "format B dense,compressed,dense,dense:0,1,2,3\n"
            "format C dense,dense,dense:2,0,1\n"
            "values f64\npositions 64\nprofile default\n"
            "where i_in <= 4\nwhere j_in <= 2\nwhere 2 <= j_in\nwhere 4 <= i_in\n");
  EXPECT_EQ(parse_problem(print(problem)).value(), problem);
}

TEST(BlockedMatrices, ReductionsRunOverBothIndices) {
  const auto problem = make("y(i) = prod(j)(B(i,j)) * i_in(i)", {{"B", "bcsr(2,2)"}});
  EXPECT_EQ(index_notation::print(problem.program()),
            "y(i_block,i_in_) = prod(j_block,j_in)(B(i_block,j_block,i_in_,j_in)) * i_in(i_block,i_in_)");
}

// 4 * i_block - 3 <= i <= 4 * i_block; a block has 1 to 8 nonzeros.
TEST(BlockedMatrices, ConstraintsSayNoMoreThanBefore) {
  const auto kept = [](const std::string& constraint) {
    const auto problem = make("A(i,l) = B(i,j) * C(j,l)", {{"B", "bcsr(4,2)"}}, {constraint});
    std::string out;
    for (const auto& one : problem.constraints) {
      const std::string text = print(one);
      if (text.find("_in") == std::string::npos) out += (out.empty() ? "" : "; ") + text;
    }
    return out;
  };
  EXPECT_EQ(kept("i == 64"), "i_block <= 16; 16 <= i_block");
  EXPECT_EQ(kept("i == 65"), "i_block <= 17; 17 <= i_block");
  EXPECT_EQ(kept("nnz(B) <= 1000"), "nnz(B,2) <= 1000");
  EXPECT_EQ(kept("1000 <= nnz(B)"), "125 <= nnz(B,2)");
  EXPECT_EQ(kept("density(B) <= 0.01"), "25*nnz(B,2) <= 2*i_block*j_block");
  EXPECT_EQ(kept("i <= l"), "4*i_block <= l + 3");
  EXPECT_EQ(kept("i*j <= 1000000"), "");  // nothing holds for certain: neither factor has to be positive
  EXPECT_EQ(kept("8 <= l <= 16"), "l <= 16; 8 <= l");
}

TEST(Canonical, SparseautoKeepsTheFactorOrder) {
  ProblemText text;
  text.profile = "sparseauto";
  const auto statement = [&text](const std::string& expression) {
    text.expression = expression;
    return canonicalize(build(text).value()).text;
  };
  EXPECT_NE(statement("A(i,l) = B(i,j) * C(j,l)"), statement("A(i,l) = C(j,l) * B(i,j)"));
  EXPECT_EQ(statement("A(i,l) = B(i,j) * C(j,l)"), statement("X(a,b) = Y(a,c) * Z(c,b)"));
}

TEST(Canonical, ATensorUsedTwiceIsNotTwoTensors) {
  EXPECT_EQ(statement_of("A(i,k) = B(i,j) * B(j,k)"), "A(i,k) = B(i,j) * B(j,k)");
  EXPECT_NE(canonicalize(make("A(i,k) = B(i,j) * B(j,k)")).key,
            canonicalize(make("A(i,k) = B(i,j) * C(j,k)")).key);
}

// An extent shared by a tensor used twice may be written on any of its indices.
TEST(Canonical, SharedExtentsMayBeWrittenOnAnyIndex) {
  const auto key = [](const std::string& bound) {
    return canonicalize(make("A(i,k) = B(i,j) * B(j,k)", {{"B", "csr"}}, {bound, "density(B) <= 0.1"})).key;
  };
  EXPECT_EQ(key("i <= 100"), key("j <= 100"));
  EXPECT_EQ(key("i <= 100"), key("k <= 100"));
}

}  // namespace
}  // namespace schaas::problem

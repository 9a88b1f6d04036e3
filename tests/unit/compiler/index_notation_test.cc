#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/index_notation/implied_sums.h"
#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/rename.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/support/limits.h"

// Statements from text to nodes: lexer, parser, printer, verifier, implied sums, extent classes. Accepted
// texts print as texts that read back the same, and source ranges cut the user's own words. Implied sums are
// compared with the statement that writes each sum out. Refused statements and their messages are in
// tests/errors.
namespace schaas::index_notation {
namespace {

using support::Limits;
using testing::ElementsAre;

Program program(const std::string& text) {
  auto parsed = parse(text).value();
  const auto verified = verify(parsed, text);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : support::render(verified.error()));
  return parsed;
}
Assignment read(const std::string& text) {
  const auto statements = program(text).statements;
  EXPECT_EQ(statements.size(), 1U) << text;
  return statements.front();
}
std::string cut(const std::string& text, support::SourceRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

TEST(Parser, ReadsAProductOfAccesses) {
  const auto statement = read("A(i,l) = B(i,j) * C(j,l)");
  EXPECT_EQ(statement.result, (Access{"A", {"i", "l"}, {}, {}}));
  EXPECT_THAT(operands(statement.value),
              ElementsAre(Access{"B", {"i", "j"}, {}, {}}, Access{"C", {"j", "l"}, {}, {}}));
  EXPECT_THAT(index_variables(statement), ElementsAre("i", "l", "j"));
}

TEST(Parser, ReadsScalarsByTheirBareName) {
  const auto statement = read("a = alpha * B(i)");
  EXPECT_EQ(statement.result, (Access{"a", {}, {}, {}}));
  EXPECT_EQ(operands(statement.value).front(), (Access{"alpha", {}, {}, {}}));
  EXPECT_EQ(read("a = b").value, product_of({Access{"b", {}, {}, {}}}));
}

TEST(Parser, FlattensParentheses) {
  EXPECT_EQ(parse("A(i) = (B(i,j) * (C(j))) * ((D(i)))").value(),
            parse("A(i) = B(i,j) * C(j) * D(i)").value());
}

TEST(Parser, WhiteSpaceAndOneSemicolonAreFree) {
  EXPECT_EQ(parse("A(i)=B(i,j)*c(j)").value(), parse(" A ( i )\n =\tB ( i , j )\r\n * c ( j ) ; ").value());
}

TEST(Parser, NamesMayHaveDigitsAndUnderscores) {
  const auto statement = read("Out_2(row_1) = In_0(row_1,c9)");
  EXPECT_EQ(print(statement), "Out_2(row_1) = In_0(row_1,c9)");
  const std::string longest(Limits::name_bytes, 'x');
  EXPECT_EQ(print(read(longest + " = b")), longest + " = b");
}

TEST(Parser, FunctionNamesAreTensorsWithoutParentheses) {
  EXPECT_EQ(print(read("max = min * sum")), "max = min * sum");
}

TEST(Parser, SumsOfIndicesAreComparedWithACoordinate) {
  EXPECT_EQ(print(read("A(i) = B(i+k) * w(k)")),
            "A(i) = sum(B_mode1)(B(B_mode1) * (B_mode1 == i + k)) * w(k)");
  EXPECT_EQ(read("A(i) = B(2*i-1,j)"), read("A(i) = sum(B_mode1)(B(B_mode1,j) * (B_mode1 == 2 * i - 1))"));
}

TEST(Parser, RangesPointIntoTheText) {
  const std::string text = " A(i) = Bee( i , jay ) * (c(jay))";
  const auto statement = read(text);
  EXPECT_EQ(cut(text, statement.result.range), "A(i)");
  EXPECT_EQ(cut(text, statement.value.range), "Bee( i , jay ) * (c(jay))");
  const auto factors = operands(statement.value);
  EXPECT_EQ(cut(text, factors[0].range), "Bee( i , jay )");
  EXPECT_EQ(cut(text, factors[0].index_ranges[1]), "jay");
  EXPECT_EQ(cut(text, factors[1].range), "c(jay)");
}

TEST(Parser, AcceptsWhatTheLimitsAllow) {
  const std::string deep = std::string(Limits::nesting, '(') + "b" + std::string(Limits::nesting, ')');
  EXPECT_EQ(print(read("a = " + deep)), "a = b");
  EXPECT_EQ(operands(read("a = b*c*d*e*f*g*h*i").value).size(), Limits::factors);
  EXPECT_EQ(index_variables(read("a = B(a,b,c,d,e,f,g,h) * C(i,j,k,l,m,n,o,p)")).size(), Limits::indices);
}

TEST(Parser, ProductsAndSumsAreFlat) {
  const auto value = [](const std::string& text) { return parse_expression(text).value(); };
  EXPECT_EQ(std::get<Product>(value("a * 2 * (b * c)").node).factors.size(), 4U);
  const auto sum = std::get<Call>(value("a + (b + c) + d").node);
  EXPECT_EQ(sum.function, operators::Function::add);
  EXPECT_EQ(sum.arguments.size(), 4U);
  const auto difference = std::get<Call>(value("a + b - c").node);
  EXPECT_EQ(difference.function, operators::Function::subtract);
  EXPECT_EQ(print(difference.arguments.front()), "a + b");
}

TEST(Parser, OperatorsBindAsUsual) {
  EXPECT_EQ(print(parse_expression("((a * b) + (-c)) < (d / (e / f))").value()), "a * b + -c < d / (e / f)");
  EXPECT_EQ(print(parse_expression("-(a * b) * (c - (d - e))").value()), "-(a * b) * (c - (d - e))");
  EXPECT_EQ(print(parse_expression("(a < b) + (c == d)").value()), "(a < b) + (c == d)");
}

TEST(Parser, ASignBeforeANumberIsTheNumbers) {
  EXPECT_EQ(std::get<Literal>(parse_expression("- 2").value().node).value, -2);
  EXPECT_EQ(std::get<Literal>(parse_expression("-inf").value().node).value,
            -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::holds_alternative<Call>(parse_expression("-(2)").value().node));
  EXPECT_EQ(print(parse_expression("-(2) - -x").value()), "-(2) - -x");
}

TEST(Parser, NumbersPrintTheShortestTextThatReadsBack) {
  EXPECT_EQ(print(parse_expression("max(0.50, 1E3, .1, 3., 100000000000000000000, 0)").value()),
            "max(0.5,1000,0.1,3,1e+20,0)");
}

TEST(Parser, ReductionsAndFunctionsOfOneNameAreToldApart) {
  const auto reduction = std::get<Reduction>(parse_expression("max(j, k)(B(i,j,k))").value().node);
  EXPECT_EQ(reduction.monoid, operators::Monoid::maximum);
  EXPECT_THAT(reduction.indices, ElementsAre("j", "k"));
  EXPECT_EQ(std::get<Call>(parse_expression("max(j, k, 2)").value().node).function,
            operators::Function::maximum);
}

TEST(Parser, ReadsProgramsUnderASemiring) {
  const auto found = program("min-plus: T(i,k) = B(i,j) * C(j,k); D(i,k) += T(i,k) + 1;");
  EXPECT_STREQ(found.semiring->name, "min-plus");
  ASSERT_EQ(found.statements.size(), 2U);
  EXPECT_EQ(found.statements[1].update, operators::Monoid::minimum);
  EXPECT_EQ(print(found), "min-plus: T(i,k) = B(i,j) * C(j,k); D(i,k) min= T(i,k) + 1");
  EXPECT_EQ(program("plus-times: a = b"), program("a = b"));
}

TEST(Parser, UpdatesFoldWithTheirMonoid) {
  EXPECT_EQ(read("a = b").update, std::nullopt);
  EXPECT_EQ(read("a += b").update, operators::Monoid::sum);
  EXPECT_EQ(read("a *= b").update, operators::Monoid::product);
  EXPECT_EQ(read("max max= b").update, operators::Monoid::maximum);
  EXPECT_EQ(read("a(i) and= b(i)").update, operators::Monoid::logical_and);
}

TEST(Parser, BoundsShiftsAsTheTextThatTheyStandFor) {
  const auto refusal = [](const std::string& text) {
    const auto statement = parse(text);
    return statement.ok() ? std::string() : statement.error().code;
  };
  // Makes a text longer until it is refused. The longest one must be accepted as it is printed, too.
  const auto refused_beyond = [&](std::string text, const auto& longer) {
    while (refusal(longer(text)).empty()) text = longer(text);
    EXPECT_EQ(refusal(print(parse(text).value())), "");
    return refusal(longer(text));
  };
  EXPECT_EQ(refused_beyond("a = B(j - i)", [](std::string text) { return text.insert(6, "j - i, "); }),
            "too-many-terms");
  EXPECT_EQ(refused_beyond("a = B(j - i)", [](const std::string& text) { return text + " * B(j - i)"; }),
            "too-many-terms");
  EXPECT_EQ(refused_beyond("a = exp(B(j - i))",
                           [](const std::string& text) { return "a = exp(" + text.substr(4) + ")"; }),
            "nesting");
  std::string inside_of_another = "i";
  for (int n = 0; n < 500; ++n) inside_of_another = "-B(" + inside_of_another + ")";
  EXPECT_EQ(refusal("a = B(" + inside_of_another + ")"), "nesting");
}

// Fuzzing, issue 39: the coordinate of a tensor with a long name had a name that no text may have.
TEST(Parser, CutsTheNamesOfShiftedCoordinates) {
  const std::string longest(support::Limits::name_bytes, 'b');
  const auto program = parse("A(i) = " + longest + "(i+1) * " + longest + "(i+2)");
  ASSERT_TRUE(program.ok());
  const auto again = parse(print(*program));
  ASSERT_TRUE(again.ok()) << support::render(again.error());
  EXPECT_EQ(*again, *program);
}

TEST(Printer, PrintsWhatTheParserReads) {
  for (const std::string text :
       {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "a = b", "a = B(i) * B(i)", "A(i) = b * C(i)",
        "Y(i) += max(j)(relu(B(i,j)) - c(i)) / 2", "A(i,j) = where(B(i,j) > 0,C(i,j) + D(i,j),0)"}) {
    EXPECT_EQ(print(parse(text).value()), text);
  }
}

TEST(Verifier, OneTensorMayBeUsedTwice) {
  read("A(i,k) = B(i,j) * B(j,k)");
  read("a = B(i) * B(i)");
}

TEST(Verifier, AcceptsTheLanguage) {
  for (const std::string text :
       {"a = B(i,i)", "A(i,j) = b(i)", "A(i,j) = 0", "y(i) = b(i) + A(i,j) * x(j) - 2",
        "Y(i) = max(j)(B(i,j)) - min(j)(B(i,j))", "Y(i) = max(j)(sum(k)(B(i,k) * C(k,j)))",
        "M(i) = max(j)(X(i,j)); E(i,j) = exp(X(i,j) - M(i)); S(i) = E(i,j); Y(i,j) = E(i,j) / S(i)",
        "s = exp(x(i) - m)", "y(i) = A(i,j) * (C(j) + 1)", "y(i) = (A(i,j) + B(i,j)) / 2",
        "y(i) = where(A(i,j) > 0, B(i,j) * c(j), 0)", "y(i) = b(i) / (1 + sum(j)(A(i,j)))",
        "or-and: y(i) = A(i,j) * x(j) + y0(i)", "max-plus: d(j) max= d0(i) * W(i,j)",
        "T(i,j) = 1; Y(i) = T(i,k) * x(k)"}) {
    program(text);
  }
}

std::string summed(const std::string& text) {
  Program found = program(text);
  for (auto& statement : found.statements) statement = with_explicit_sums(statement, *found.semiring);
  found.semiring = &operators::plus_times();
  return print(found);
}

TEST(ImpliedSums, StandAroundEachAdditiveTermThatHasTheIndex) {
  EXPECT_EQ(summed("y(i) = b(i) + A(i,j) * x(j)"), "y(i) = b(i) + sum(j)(A(i,j) * x(j))");
  EXPECT_EQ(summed("y(i) = -(A(i,j) - B(i,k)) + 2"), "y(i) = -(sum(j)(A(i,j)) - sum(k)(B(i,k))) + 2");
  EXPECT_EQ(summed("s = exp(x(i) - m) / 2"), "s = sum(i)(exp(x(i) - m) / 2)");
  EXPECT_EQ(summed("y(i) = 2 * A(i,j) * B(j,k)"), "y(i) = sum(j,k)(2 * A(i,j) * B(j,k))");
  EXPECT_EQ(summed("y(i) = max(j)(A(i,j)) / c(i)"), "y(i) = max(j)(A(i,j)) / c(i)");
  EXPECT_EQ(summed("y(i) = max(j)(A(i,j)) + A(i,j)"), "y(i) = max(j)(A(i,j)) + sum(j)(A(i,j))");
}

TEST(ImpliedSums, LeaveContractionsAlone) {
  EXPECT_EQ(summed("y(i) = A(i,j) * x(j)"), "y(i) = A(i,j) * x(j)");
  EXPECT_EQ(summed("y(i) = A(i,j)"), "y(i) = A(i,j)");
}

TEST(ImpliedSums, FoldWithTheSumOfTheSemiring) {
  EXPECT_EQ(summed("min-plus: y(i) = b(i) + A(i,j) * x(j)"), "y(i) = min(b(i),min(j)(A(i,j) * x(j)))");
  EXPECT_EQ(summed("or-and: y(i) = exp(b(i) + c(i)) + 1"), "y(i) = or(exp(or(b(i),c(i))),1)");
}

std::string implied(const std::string& text) {
  const Program found = program(text);
  return print(with_implied_sums(found.statements.front(), *found.semiring));
}

TEST(ImpliedSums, NeedNotBeWrittenOutInContractions) {
  EXPECT_EQ(implied("Y(i) = sum(j)(A(i,j) * x(j))"), "Y(i) = A(i,j) * x(j)");
  EXPECT_EQ(implied("Y(i) += b * sum(j)(A(i,j) * sum(k,l)(B(j,k,l) * c(k)))"),
            "Y(i) += b * A(i,j) * B(j,k,l) * c(k)");
  EXPECT_EQ(implied("min-plus: Y(i) = min(j)(A(i,j))"), "Y(i) = A(i,j)");
}

TEST(ImpliedSums, StayWrittenOutWhereTheyMeanMore) {
  for (const std::string text :
       {"Y(i) = sum(j)(A(i,j)) * sum(j)(B(i,j))", "Y(i) = sum(j)(A(i,j) * 2)", "Y(i) = max(j)(A(i,j))",
        "Y(i) = sum(j)(A(i,j)) + b(i)", "Y(i) max= sum(j)(A(i,j))", "Y(i) = sum(j)(A(i,j) + B(i,j))",
        "Y = sum(j)(b(j) * exp(sum(k)(c(j) * D(k))))",
        "a = b * sum(i)(B(i) * C(i) * D(i) * E(i) * F(i) * G(i) * H(i) * I(i))"}) {
    EXPECT_EQ(implied(text), text);
  }
  const Program min_plus = program("min-plus: Y(i) = sum(j)(A(i,j))");
  EXPECT_EQ(with_implied_sums(min_plus.statements.front(), *min_plus.semiring), min_plus.statements.front());
}

TEST(ExtentClasses, GoThroughIntermediates) {
  const auto classes = extent_classes(program("T(i,j) = B(i) * C(j); Y(k) = T(k,l) * d(m)").statements);
  EXPECT_EQ(classes.at("k"), "i");
  EXPECT_EQ(classes.at("l"), "j");
  EXPECT_EQ(classes.at("m"), "m");
}

TEST(FreeIndices, AreThoseNoReductionBinds) {
  const auto of = [](const std::string& text) { return free_indices(parse_expression(text).value()); };
  EXPECT_THAT(of("B(i,j) * max(j,k)(C(j,k,l) + i)"), ElementsAre("i", "j", "l"));
  EXPECT_THAT(of("sum(i)(B(i,i))"), ElementsAre());
}

TEST(Coordinates, AreIndicesThatStandAlone) {
  const Program program = parse("y(i) = sum(j)(j * c * B(i,j)) + i").value();
  const Expression& value = program.statements.front().value;
  EXPECT_THAT(coordinates(value), ElementsAre("j", "i"));
  EXPECT_EQ(operands(value).size(), 2U);  // c and B
  EXPECT_THAT(free_indices(value), ElementsAre("i"));
  EXPECT_EQ(parse(print(program)).value(), program);
  EXPECT_FALSE(is_product(parse("y(i) = i * x(i)").value().statements.front().value));
}

TEST(Coordinates, AreKnownInTheWholeProgram) {
  const auto of = [](const std::string& text) {
    return coordinates(parse(text).value().statements.front().value);
  };
  EXPECT_THAT(of("T(j) = x(j) * i; y(i) = T(j) * A(i,j)"), ElementsAre("i"));
  EXPECT_THAT(of("y = sum(i)(i)"), ElementsAre("i"));
  EXPECT_THAT(of("y(j) = x(j) * i"), ElementsAre());
  EXPECT_THAT(of("y(j) = i(j) * x(i) * i"), ElementsAre());  // a tensor, too
}

TEST(Coordinates, GetOtherNames) {
  const Program program = parse("y(i) = i * x(i)").value();
  EXPECT_EQ(print(renamed(program.statements.front(), {{{"x", "B"}}, {{"i", "k"}}})), "y(k) = k * B(k)");
}

TEST(Verifier, WithoutSourceSaysItWithoutAPlace) {
  const auto verified = verify(parse("A(i) = A(j)").value(), "");
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(support::render(verified.error()),
            "invalid [result-on-right]: `A` is the result and cannot be an operand as well\n"
            "  note: to go on from what the result holds, write `+=`, `max=` or another update");
}

TEST(Lexer, KindsOfWords) {
  const auto tokens = lex("a_1<=1e-3*.5 |k|>=7.=b", "text").value();
  std::vector<std::string> words;
  for (const auto& token : tokens) words.emplace_back(token.text);
  EXPECT_THAT(words, ElementsAre("a_1", "<=", "1e-3", "*", ".5", "|", "k", "|", ">=", "7.", "=", "b", ""));
}

}  // namespace
}  // namespace schaas::index_notation

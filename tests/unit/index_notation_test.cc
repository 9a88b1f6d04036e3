#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/index_notation/lexer.h"
#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/index_notation/verifier.h"
#include "compiler/support/limits.h"

namespace schaas::index_notation {
namespace {

using support::Limits;
using testing::ElementsAre;

Assignment read(const std::string& text) {
  auto assignment = parse(text).value();
  const auto verified = verify(assignment, text);
  EXPECT_TRUE(verified.ok()) << (verified.ok() ? "" : support::render(verified.error()));
  return assignment;
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

TEST(Parser, RangesPointIntoTheText) {
  const std::string text = " A(i) = Bee( i , jay ) * (c(jay))";
  const auto statement = read(text);
  EXPECT_EQ(cut(text, statement.result.range), "A(i)");
  EXPECT_EQ(cut(text, statement.value.range), "Bee( i , jay ) * (c(jay)");
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

TEST(Printer, PrintsWhatTheParserReads) {
  for (const std::string text :
       {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "a = b", "a = B(i) * B(i)", "A(i) = b * C(i)"}) {
    EXPECT_EQ(print(parse(text).value()), text);
  }
}

TEST(Verifier, OneTensorMayBeUsedTwice) {
  read("A(i,k) = B(i,j) * B(j,k)");
  read("a = B(i) * B(i)");
}

TEST(Verifier, WithoutSourceSaysItWithoutAPlace) {
  const auto verified = verify(parse("A(i,z) = B(i,j)").value(), "");
  ASSERT_FALSE(verified.ok());
  EXPECT_EQ(support::render(verified.error()),
            "invalid [result-index-unbound]: index `z` of the result is not an index of any operand");
}

TEST(Lexer, KindsOfWords) {
  const auto tokens = lex("a_1<=1e-3*.5 |k|>=7.=b", "text").value();
  std::vector<std::string> words;
  for (const auto& token : tokens) words.emplace_back(token.text);
  EXPECT_THAT(words, ElementsAre("a_1", "<=", "1e-3", "*", ".5", "|", "k", "|", ">=", "7.", "=", "b", ""));
}

}  // namespace
}  // namespace schaas::index_notation

// Questions about whole programs.
#include "schaas/expression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace schaas::client {
namespace {

using Names = std::vector<std::string>;

Program read(const std::string& text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << support::render(program.error());
  return program.ok() ? std::move(program).value() : Program{};
}

TEST(ClientExpression, ReadsSemiringsUpdatesAndSeveralStatements) {
  const Program program = read("min-plus: T(i,j) = B(i,k) * C(k,j); D(i,j) min= T(i,j) * E(i,j);");
  EXPECT_STREQ(program.semiring->name, "min-plus");
  EXPECT_TRUE(std::isinf(program.semiring->zero));
  ASSERT_EQ(program.statements.size(), 2u);
  EXPECT_FALSE(program.statements[0].update.has_value());
  EXPECT_EQ(program.statements[1].update, Monoid::minimum);
  EXPECT_EQ(program.result(), (Access{"D", {"i", "j"}}));
  EXPECT_EQ(arguments(program), (Names{"D", "B", "C", "E"}));
  EXPECT_EQ(indices_of(program), (Names{"i", "j", "k"}));
  EXPECT_EQ(operands(program),
            (std::vector<Access>{{"B", {"i", "k"}}, {"C", {"k", "j"}}, {"E", {"i", "j"}}}));
}

TEST(ClientExpression, ListsEachArgumentOnceAndEachReading) {
  const Program program = read("A(i,k) = B(i,j) * B(j,k) + s");
  EXPECT_EQ(arguments(program), (Names{"A", "B", "s"}));
  EXPECT_EQ(operands(program).size(), 3u);
  EXPECT_EQ(indices_of(program), (Names{"i", "k", "j"}));
}

TEST(ClientExpression, ListsIndicesOfTheResultFirst) {
  EXPECT_EQ(indices_of(read("t(j) = B(i,j); A(l,j) = t(j) * c(l)")), (Names{"l", "j", "i"}));
}

TEST(ClientExpression, LinksIndicesThroughIntermediates) {
  const auto links = linked_indices(read("t(i) = B(i,j); A(k,i) = t(k) * t(i)"));
  EXPECT_EQ(links, (std::vector<std::pair<std::string, std::string>>{{"i", "k"}}));
}

TEST(ClientExpression, PointsAtTheUnexpectedWord) {
  const auto program = parse_program("A(i) = B(i,) * C(i)");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(support::render(program.error()).substr(0, 16), "invalid [syntax]");
}

}  // namespace
}  // namespace schaas::client

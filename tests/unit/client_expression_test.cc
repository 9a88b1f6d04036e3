// The client's own reader of statements.
#include "schaas/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace schaas::client {
namespace {

using Names = std::vector<std::string>;

Program read(const std::string& text) {
  auto program = parse_program(text);
  EXPECT_TRUE(program.ok()) << support::render(program.error());
  return program.ok() ? std::move(program).value() : Program{};
}

Expression value_of(const std::string& expression) {
  return read("A(i) = " + expression).statements.at(0).value;
}

Expression access(const char* tensor, Names indices) { return {Access{tensor, std::move(indices)}}; }
Expression operation(Function function, std::vector<Expression> arguments) {
  return {Operation{function, std::move(arguments)}};
}

TEST(ClientExpression, reads_products_flat_and_scalars_with_or_without_parentheses) {
  const Program program = read(" A ( i , l )=B(i,j)*C_2(j, l) * s * t() ;");
  ASSERT_EQ(program.statements.size(), 1u);
  EXPECT_EQ(program.result(), (Access{"A", {"i", "l"}}));
  EXPECT_EQ(program.statements[0].value,
            operation(Function::multiply, {access("B", {"i", "j"}), access("C_2", {"j", "l"}),
                                           access("s", {}), access("t", {})}));
  EXPECT_STREQ(program.semiring->name, "plus-times");
}

TEST(ClientExpression, binds_operators_as_usual) {
  const Expression a = access("a", {"i"}), b = access("b", {"i"}), c = access("c", {"i"});
  EXPECT_EQ(value_of("a(i) + b(i) * c(i)"),
            operation(Function::add, {a, operation(Function::multiply, {b, c})}));
  EXPECT_EQ(value_of("a(i) - b(i) - c(i)"),
            operation(Function::subtract, {operation(Function::subtract, {a, b}), c}));
  EXPECT_EQ(value_of("a(i) - (b(i) - c(i))"),
            operation(Function::subtract, {a, operation(Function::subtract, {b, c})}));
  EXPECT_EQ(value_of("a(i) / b(i) * c(i)"),
            operation(Function::multiply, {operation(Function::divide, {a, b}), c}));
  EXPECT_EQ(value_of("-a(i) * b(i)"), operation(Function::multiply, {operation(Function::negate, {a}), b}));
  EXPECT_EQ(
      value_of("a(i) + b(i) <= -c(i)"),
      operation(Function::less_equal, {operation(Function::add, {a, b}), operation(Function::negate, {c})}));
}

TEST(ClientExpression, flattens_sums) {
  const Expression a = access("a", {"i"});
  EXPECT_EQ(value_of("a(i) + (a(i) + 2.5e-1) + a(i)"), operation(Function::add, {a, a, {0.25}, a}));
}

TEST(ClientExpression, tells_reductions_from_functions) {
  const Expression b = access("B", {"i", "j"});
  EXPECT_EQ(value_of("max(j)(B(i,j))"), (Expression{Reduction{Fold::maximum, {"j"}, {b}}}));
  EXPECT_EQ(value_of("max(j, B(i,j))"), operation(Function::maximum, {access("j", {}), b}));
  EXPECT_EQ(value_of("sum(j,k)(prod(l)(B(i,j)))"),
            (Expression{Reduction{Fold::sum, {"j", "k"}, {{Reduction{Fold::product, {"l"}, {b}}}}}}));
  EXPECT_EQ(
      value_of("where(B(i,j) != 0, exp(B(i,j)), and(1, 0, B(i,j)))"),
      operation(Function::where, {operation(Function::not_equal, {b, {0.0}}), operation(Function::exp, {b}),
                                  operation(Function::logical_and, {{1.0}, {0.0}, b})}));
}

TEST(ClientExpression, inf_is_a_number) {
  EXPECT_EQ(value_of("inf"), (Expression{std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(value_of("-inf"), operation(Function::negate, {{std::numeric_limits<double>::infinity()}}));
}

TEST(ClientExpression, plus_updates_with_the_sum_of_the_semiring) {
  EXPECT_EQ(read("min-plus: d(j) += W(i,j)").statements.back().update, Fold::minimum);
}

TEST(ClientExpression, reads_semirings_updates_and_several_statements) {
  const Program program = read("min-plus: T(i,j) = B(i,k) * C(k,j); D(i,j) min= T(i,j) * E(i,j);");
  EXPECT_STREQ(program.semiring->name, "min-plus");
  EXPECT_TRUE(std::isinf(program.semiring->zero));
  ASSERT_EQ(program.statements.size(), 2u);
  EXPECT_FALSE(program.statements[0].update.has_value());
  EXPECT_EQ(program.statements[1].update, Fold::minimum);
  EXPECT_EQ(program.result(), (Access{"D", {"i", "j"}}));
  EXPECT_EQ(arguments(program), (Names{"D", "B", "C", "E"}));
  EXPECT_EQ(indices_of(program), (Names{"i", "j", "k"}));
  EXPECT_EQ(operands(program),
            (std::vector<Access>{{"B", {"i", "k"}}, {"C", {"k", "j"}}, {"E", {"i", "j"}}}));
  for (const auto& [text, fold] : std::vector<std::pair<std::string, Fold>>{{"+=", Fold::sum},
                                                                            {"*=", Fold::product},
                                                                            {"max=", Fold::maximum},
                                                                            {"or=", Fold::logical_or},
                                                                            {"and=", Fold::logical_and}})
    EXPECT_EQ(read("s " + text + " B(i)").statements[0].update, fold) << text;
}

TEST(ClientExpression, links_indices_through_intermediates) {
  const auto links = linked_indices(read("t(i) = B(i,j); A(k,i) = t(k) * t(i)"));
  EXPECT_EQ(links, (std::vector<std::pair<std::string, std::string>>{{"i", "k"}}));
}

std::string error_of(const std::string& text) {
  const auto program = parse_program(text);
  return program.ok() ? "no error" : support::render(program.error());
}

TEST(ClientExpression, points_at_what_it_did_not_expect) {
  EXPECT_EQ(error_of("A(i) = B(i,) * C(i)"),
            "invalid [expression-syntax]: expected an index name, found `)`\n"
            "  --> expression:1:12\n"
            "  | A(i) = B(i,) * C(i)\n"
            "  |            ^");
  EXPECT_EQ(error_of("A(i) = B(i) C(i)"),
            "invalid [expression-syntax]: expected an operator, `;` or the end, found `C`\n"
            "  --> expression:1:13\n"
            "  | A(i) = B(i) C(i)\n"
            "  |             ^");
  EXPECT_EQ(error_of("A(i)"),
            "invalid [expression-syntax]: expected `=`, found the end\n"
            "  --> expression:1:5\n"
            "  | A(i)\n"
            "  |     ^");
  EXPECT_EQ(error_of("s = exp(a, b)"),
            "invalid [expression-syntax]: expected 1 arguments of `exp`, found `)`\n"
            "  --> expression:1:13\n"
            "  | s = exp(a, b)\n"
            "  |             ^");
  EXPECT_EQ(error_of("min-times: s = a * b"),
            "invalid [expression-syntax]: expected the name of a semiring before `:`, found `m`\n"
            "  --> expression:1:1\n"
            "  | min-times: s = a * b\n"
            "  | ^");
  EXPECT_EQ(error_of("s = (a + 2"),
            "invalid [expression-syntax]: expected an operator or `)`, found the end\n"
            "  --> expression:1:11\n"
            "  | s = (a + 2\n"
            "  |           ^");
  EXPECT_EQ(error_of("s = 1.2.3"),
            "invalid [expression-syntax]: expected a number, found `1`\n"
            "  --> expression:1:5\n"
            "  | s = 1.2.3\n"
            "  |     ^");
}

TEST(ClientExpression, bounds_nesting) {
  const std::string deep = "s = " + std::string(100, '(') + "a" + std::string(100, ')');
  EXPECT_EQ(error_of(deep).substr(0, 76),
            "invalid [expression-syntax]: expected at most 64 nested parentheses, found `");
}

}  // namespace
}  // namespace schaas::client

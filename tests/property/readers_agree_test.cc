// The compiler's parser and the client's own small reader: what the compiler accepts the client reads, and
// reads as the same program. Elsewhere each of them would answer another question than the user asked.
#include <gtest/gtest.h>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/problem.h"
#include "schaas/expression.h"
#include "tests/support/mutation.h"

namespace schaas {
namespace {

namespace in = index_notation;

// Both enumerations list the same things in the same order; FunctionsHaveTheSameNames checks it.
operators::Function function_of(client::Function function) {
  return static_cast<operators::Function>(static_cast<int>(function));
}
operators::Monoid monoid_of(client::Fold fold) {
  return static_cast<operators::Monoid>(static_cast<int>(fold));
}

in::Expression negated(in::Expression argument) {
  if (const auto* literal = std::get_if<in::Literal>(&argument.node))
    return {in::Literal{-literal->value}, {}};
  return {in::Call{operators::Function::negate, {std::move(argument)}}, {}};
}

in::Access read_by_client(const client::Access& access) { return {access.tensor, access.indices, {}, {}}; }

in::Expression read_by_client(const client::Expression& expression) {
  if (const auto* access = std::get_if<client::Access>(&expression.value))
    return {read_by_client(*access), {}};
  if (const auto* number = std::get_if<double>(&expression.value)) return {in::Literal{*number}, {}};
  if (const auto* reduction = std::get_if<client::Reduction>(&expression.value)) {
    return {in::Reduction{
                monoid_of(reduction->fold), reduction->indices, {read_by_client(reduction->body.front())}},
            {}};
  }
  const auto& operation = std::get<client::Operation>(expression.value);
  std::vector<in::Expression> arguments;
  for (const auto& argument : operation.arguments) arguments.push_back(read_by_client(argument));
  if (operation.function == client::Function::multiply) return {in::Product{std::move(arguments)}, {}};
  if (operation.function == client::Function::negate) return negated(std::move(arguments.front()));
  return {in::Call{function_of(operation.function), std::move(arguments)}, {}};
}

in::Program read_by_client(const client::Program& program) {
  in::Program out{operators::semiring_named(program.semiring->name), {}};
  for (const auto& statement : program.statements) {
    in::Assignment one{read_by_client(statement.result), read_by_client(statement.value), std::nullopt, {}};
    if (statement.update) one.update = monoid_of(*statement.update);
    out.statements.push_back(std::move(one));
  }
  return out;
}

// A sign before a number is the number's, also when parentheses stand between.
in::Expression with_signs(const in::Expression& expression) {
  std::vector<in::Expression> inner;
  for (const auto& part : in::parts(expression)) inner.push_back(with_signs(part));
  in::Expression out = in::with_parts(expression, inner);
  const auto* call = std::get_if<in::Call>(&out.node);
  if (call == nullptr || call->function != operators::Function::negate) return out;
  return negated(inner.front());
}

TEST(ReadersAgree, FunctionsHaveTheSameNames) {
  for (const auto& name : operators::function_names()) {
    const auto* form = client::call_named(name);
    ASSERT_NE(form, nullptr) << name;
    EXPECT_EQ(function_of(form->function), operators::function_named(name)) << name;
    const auto& facts = operators::facts(function_of(form->function));
    EXPECT_EQ(form->least, facts.arity) << name;
    EXPECT_EQ(form->most > form->least, facts.any_more) << name;
  }
  for (const std::string name : {"sum", "prod", "min", "max", "or", "and"}) {
    const auto fold = client::fold_named(name);
    ASSERT_TRUE(fold.has_value()) << name;
    EXPECT_EQ(monoid_of(*fold), operators::monoid_named(name));
    EXPECT_EQ(client::identity(*fold), operators::identity(monoid_of(*fold))) << name;
  }
}

TEST(ReadersAgree, SemiringsAreTheSame) {
  const auto& theirs = client::semirings();
  ASSERT_EQ(theirs.size(), operators::semirings().size());
  for (const auto& each : theirs) {
    const auto* ours = operators::semiring_named(each.name);
    ASSERT_NE(ours, nullptr) << each.name;
    EXPECT_EQ(monoid_of(each.sum), ours->sum) << each.name;
    EXPECT_EQ(function_of(each.product), ours->product) << each.name;
    EXPECT_EQ(each.zero, ours->zero) << each.name;
    EXPECT_EQ(each.one, ours->one) << each.name;
  }
}

TEST(ReadersAgree, OnEveryProgramTheCompilerAccepts) {
  const std::vector<std::string> good = {
      "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
      "A(i,j) = where(B(i,j) > 0, C(i,j) + (D(i,j) - 2) - 1, -0.5e-3)",
      "Y(i) += max(j)(relu(B(i,j)) - c(i)) / 2 * (3 + -x)",
      "M(i) = max(j)(X(i,j)); E(i,j) = exp(X(i,j) - M(i)); S(i) = E(i,j); Y(i,j) = E(i,j) / S(i)",
      "min-plus: T(i,k) = B(i,j) * C(j,k) + 1; D(i,k) += T(i,k)",
      "a = -B(i,i) - inf * (C(i) == D(i)) / (2 - -(x))",
      "Y(i) *= and(B(i), not(C(i)), or(D(i), E(i) != 1e3)) * sum(j,k)(F(i,j,k))"};
  constexpr std::uint32_t seed = 7;
  test_support::Mutation mutation(seed);
  int accepted = 0;
  for (int n = 0; n < 30000; ++n) {
    problem::ProblemText text;
    text.expression =
        n < static_cast<int>(good.size()) ? good[static_cast<std::size_t>(n)] : mutation.text(good);
    const auto problem = problem::build(text);
    if (!problem.ok()) continue;
    ++accepted;
    const auto read = client::parse_program(text.expression);
    ASSERT_TRUE(read.ok()) << "seed " << seed << '\n'
                           << text.expression << '\n'
                           << support::render(read.error());
    in::Program ours = in::parse(text.expression).value();
    for (auto& statement : ours.statements) statement.value = with_signs(statement.value);
    ASSERT_EQ(in::print(read_by_client(*read)), in::print(ours)) << "seed " << seed << '\n'
                                                                 << text.expression;
    ASSERT_EQ(client::arguments(*read), problem->tensors()) << "seed " << seed << '\n' << text.expression;
  }
  EXPECT_GE(accepted, 1500);
}

}  // namespace
}  // namespace schaas

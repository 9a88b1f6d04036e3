// Expressions print with as few parentheses as the parser needs and read back the same: every small one, and
// random large ones.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"

namespace schaas::index_notation {
namespace {

using operators::Function;
using operators::Monoid;
using Expressions = std::vector<Expression>;

Expression access(const std::string& tensor, std::vector<std::string> indices = {}) {
  return {Access{tensor, std::move(indices), {}, {}}, {}};
}
Expression literal(double value) { return {Literal{value}, {}}; }

template <class Same>
Expressions flat(const Expressions& all, Same&& is_same) {
  Expressions out;
  for (const auto& each : all) {
    const Expressions inner = is_same(each) ? parts(each) : Expressions{each};
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}
// Flattened as nodes.h promises.
Expression call(Function function, const Expressions& arguments) {
  if (function == Function::multiply) {
    return {
        Product{flat(arguments, [](const Expression& e) { return std::holds_alternative<Product>(e.node); })},
        {}};
  }
  if (function != Function::add) return {Call{function, arguments}, {}};
  const auto is_sum = [](const Expression& e) {
    const auto* inner = std::get_if<Call>(&e.node);
    return inner != nullptr && inner->function == Function::add;
  };
  return {Call{function, flat(arguments, is_sum)}, {}};
}

const std::vector<Function>& binary() {
  static const std::vector<Function> all = {Function::add,          Function::subtract, Function::multiply,
                                            Function::divide,       Function::less,     Function::less_equal,
                                            Function::greater,      Function::equal,    Function::not_equal,
                                            Function::maximum,      Function::power,    Function::logical_or,
                                            Function::greater_equal};
  return all;
}

// Every pair of parentheses, with the text without it.
std::vector<std::string> without_one_pair(const std::string& text) {
  std::vector<std::string> out;
  std::vector<std::size_t> open;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '(') open.push_back(n);
    if (text[n] != ')') continue;
    std::string shorter = text;
    shorter.erase(n, 1).erase(open.back(), 1);
    open.pop_back();
    out.push_back(shorter);
  }
  return out;
}

void check(const Expression& expression) {
  const std::string text = print(expression);
  const auto again = parse_expression(text);
  ASSERT_TRUE(again.ok()) << text << '\n' << support::render(again.error());
  ASSERT_EQ(*again, expression) << text << " reads back as " << print(*again);
  for (const auto& shorter : without_one_pair(text)) {
    const auto other = parse_expression(shorter);
    ASSERT_FALSE(other.ok() && *other == expression) << text << " has more parentheses than " << shorter;
  }
}

TEST(ExpressionText, EverySmallExpressionReadsBack) {
  Expressions leaves = {access("a"), access("B", {"i"}), literal(2), literal(-2)};
  Expressions once = leaves;
  const auto combine = [](Expressions& out, const Expressions& left, const Expressions& right) {
    for (const auto& a : left) {
      for (const auto& b : right) {
        for (const Function function : binary()) out.push_back(call(function, {a, b}));
      }
    }
    for (const auto& a : left) {
      out.push_back(call(Function::negate, {a}));
      out.push_back(call(Function::exp, {a}));
      out.push_back({Reduction{Monoid::maximum, {"i"}, {a}}, {}});
    }
  };
  combine(once, leaves, leaves);
  Expressions few = {access("a"), literal(2)};
  Expressions twice;
  combine(twice, once, few);
  combine(twice, few, once);
  Expressions small;
  combine(small, few, few);
  combine(twice, small, small);
  EXPECT_GE(twice.size(), 20000U);
  for (const auto& each : twice) ASSERT_NO_FATAL_FAILURE(check(each));
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }

  double number() {
    static const std::vector<double> special = {
        0,    1, -1, 0.1, 1e-300, 1.7976931348623157e308, 5e-324, std::numeric_limits<double>::infinity(),
        1e20, 3};
    if (below(2) == 0) return special[below(special.size())];
    const double whole = static_cast<double>(engine_()) - 2147483648.0;
    return whole / static_cast<double>(1 + engine_());
  }

  std::optional<Bound> bound() {
    const std::size_t choice = below(4);
    if (choice == 0) return std::nullopt;
    if (choice == 1) return Bound("n" + std::to_string(below(3)));
    return Bound(static_cast<std::int64_t>(below(20)) - 10);
  }
  // Modes are whole, read in part, or fixed.
  Expression ranged(Expression whole) {
    auto& access = std::get<Access>(whole.node);
    access.ranges.resize(access.indices.size());
    bool any = false;
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      Range range{bound(), bound(), bound(), below(3) == 0};
      if (range.is_fixed) {
        if (!range.begin) continue;
        range.end = range.step = std::nullopt;
        access.indices[mode] = "";
      } else if (range.step == Bound(std::int64_t{0}) || range.step == Bound(std::int64_t{1}) ||
                 (!range.begin && !range.end && !range.step)) {
        continue;
      }
      access.ranges[mode] = range;
      any = true;
    }
    if (!any) access.ranges.clear();
    return whole;
  }

  Expression expression(int depth) {
    const std::size_t choice = below(depth == 0 ? 2 : 9);
    if (choice == 0 && below(3) == 0) return ranged(access("T" + std::to_string(below(3)), indices()));
    if (choice == 0)
      return access("T" + std::to_string(below(3)), below(2) == 0 ? indices() : std::vector<std::string>());
    if (choice == 1) return literal(number());
    if (choice == 2) return call(Function::negate, {expression(depth - 1)});
    if (choice == 3)
      return {Reduction{static_cast<Monoid>(below(6)), indices(), {expression(depth - 1)}}, {}};
    if (choice == 4)
      return call(Function::where, {expression(depth - 1), expression(depth - 1), expression(depth - 1)});
    if (choice == 5)
      return call(Function::minimum, {expression(depth - 1), expression(depth - 1), expression(depth - 1)});
    return call(binary()[below(binary().size())], {expression(depth - 1), expression(depth - 1)});
  }

  Program program() {
    Program out{&operators::semirings()[below(operators::semirings().size())], {}};
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      Assignment statement{{"R", indices(), {}, {}}, expression(2), std::nullopt, {}};
      // `+=` is the semiring's sum and `*=` is plus-times' alone, so these updates have one text.
      if (below(3) == 0) statement.update = out.semiring->sum;
      if (below(4) == 0) statement.update = below(2) == 0 ? Monoid::maximum : Monoid::logical_and;
      out.statements.push_back(std::move(statement));
    }
    return out;
  }

 private:
  std::vector<std::string> indices() {
    const std::vector<std::string> all = {"i", "row_2", "j"};
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(1 + below(3))};
  }
  std::mt19937 engine_;
};

TEST(ExpressionText, RandomExpressionsReadBack) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(check(Random(seed).expression(1 + static_cast<int>(seed % 4))));
  }
}

TEST(ExpressionText, RandomProgramsReadBack) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const Program program = Random(seed).program();
    const auto again = parse(print(program));
    ASSERT_TRUE(again.ok()) << "seed " << seed << '\n' << support::render(again.error());
    ASSERT_EQ(*again, program) << "seed " << seed << '\n' << print(program) << '\n' << print(*again);
  }
}

}  // namespace
}  // namespace schaas::index_notation

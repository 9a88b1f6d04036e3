#include "compiler/loop_ir/nodes.h"

#include <algorithm>
#include <utility>

namespace schaas::loop_ir {
namespace {

ExpressionPtr make_expression(Expression expression) {
  return std::make_shared<const Expression>(std::move(expression));
}

const Integer* as_integer(const ExpressionPtr& e) { return std::get_if<Integer>(&e->node); }

bool equal_cursors(const Cursor& a, const Cursor& b) {
  return a.position == b.position && a.coordinates == b.coordinates && equal(a.begin, b.begin) &&
         equal(a.end, b.end);
}

}  // namespace

ExpressionPtr integer(std::int64_t value) { return make_expression({Integer{value}}); }
ExpressionPtr name(std::string text) { return make_expression({Name{std::move(text)}}); }
ExpressionPtr load(std::string array, ExpressionPtr index) {
  return make_expression({Load{std::move(array), std::move(index)}});
}
ExpressionPtr zero() { return make_expression({Zero{}}); }

ExpressionPtr add(ExpressionPtr left, ExpressionPtr right) {
  const Integer* a = as_integer(left);
  const Integer* b = as_integer(right);
  if (a && b) return integer(a->value + b->value);
  if (a && a->value == 0) return right;
  if (b && b->value == 0) return left;
  return make_expression({Add{std::move(left), std::move(right)}});
}

ExpressionPtr multiply(ExpressionPtr left, ExpressionPtr right) {
  const Integer* a = as_integer(left);
  const Integer* b = as_integer(right);
  if (a && b) return integer(a->value * b->value);
  if (a && a->value == 1) return right;
  if (b && b->value == 1) return left;
  return make_expression({Multiply{std::move(left), std::move(right)}});
}

ExpressionPtr minimum(ExpressionPtr left, ExpressionPtr right) {
  return make_expression({Minimum{std::move(left), std::move(right)}});
}

ExpressionPtr search(std::string array, ExpressionPtr begin, ExpressionPtr end, ExpressionPtr key) {
  return make_expression({Search{std::move(array), std::move(begin), std::move(end), std::move(key)}});
}

StatementPtr block(std::vector<StatementPtr> statements) {
  if (statements.size() == 1) return statements.front();
  return make(Block{std::move(statements)});
}

bool equal(const ExpressionPtr& a, const ExpressionPtr& b) {
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  const auto same = Match{
      [&](const Integer& x) { return x.value == std::get<Integer>(b->node).value; },
      [&](const Name& x) { return x.name == std::get<Name>(b->node).name; },
      [&](const Load& x) {
        const auto& y = std::get<Load>(b->node);
        return x.array == y.array && equal(x.index, y.index);
      },
      [&](const Add& x) {
        const auto& y = std::get<Add>(b->node);
        return equal(x.left, y.left) && equal(x.right, y.right);
      },
      [&](const Multiply& x) {
        const auto& y = std::get<Multiply>(b->node);
        return equal(x.left, y.left) && equal(x.right, y.right);
      },
      [&](const Minimum& x) {
        const auto& y = std::get<Minimum>(b->node);
        return equal(x.left, y.left) && equal(x.right, y.right);
      },
      [&](const Search& x) {
        const auto& y = std::get<Search>(b->node);
        return x.array == y.array && equal(x.begin, y.begin) && equal(x.end, y.end) && equal(x.key, y.key);
      },
      [&](const Zero&) { return true; },
  };
  return std::visit(same, a->node);
}

bool equal(const StatementPtr& a, const StatementPtr& b) {
  if (a == b) return true;
  if (a->node.index() != b->node.index()) return false;
  const auto same = Match{
      [&](const Block& x) {
        const auto& y = std::get<Block>(b->node);
        return std::equal(x.statements.begin(), x.statements.end(), y.statements.begin(), y.statements.end(),
                          [](const StatementPtr& s, const StatementPtr& t) { return equal(s, t); });
      },
      [&](const Let& x) {
        const auto& y = std::get<Let>(b->node);
        return x.name == y.name && x.type == y.type && equal(x.value, y.value);
      },
      [&](const Accumulator& x) { return x.name == std::get<Accumulator>(b->node).name; },
      [&](const Accumulate& x) {
        const auto& y = std::get<Accumulate>(b->node);
        return x.name == y.name && equal(x.value, y.value);
      },
      [&](const Store& x) {
        const auto& y = std::get<Store>(b->node);
        return x.array == y.array && x.mode == y.mode && equal(x.index, y.index) && equal(x.value, y.value);
      },
      [&](const For& x) {
        const auto& y = std::get<For>(b->node);
        return x.variable == y.variable && x.shape == y.shape && x.step == y.step &&
               equal(x.begin, y.begin) && equal(x.end, y.end) && equal(x.body, y.body);
      },
      [&](const Merge& x) {
        const auto& y = std::get<Merge>(b->node);
        return x.variable == y.variable && equal(x.body, y.body) &&
               std::equal(x.cursors.begin(), x.cursors.end(), y.cursors.begin(), y.cursors.end(),
                          equal_cursors);
      },
      [&](const Clear& x) {
        const auto& y = std::get<Clear>(b->node);
        return x.array == y.array && equal(x.count, y.count);
      },
  };
  return std::visit(same, a->node);
}

}  // namespace schaas::loop_ir

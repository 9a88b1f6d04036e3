#include "compiler/loop_ir/expression_parser.h"

#include <optional>
#include <utility>

#include "compiler/support/limits.h"

namespace schaas::loop_ir {
namespace {

/// Returns the function with this name, also one that users do not write.
std::optional<operators::Function> called(const std::string& text) {
  if (text == operators::facts(operators::Function::negate).name) return operators::Function::negate;
  return operators::function_named(text, operators::Callers::loop_ir);
}

}  // namespace

void ExpressionParser::enter() {
  if (++depth_ > 4 * support::Limits::nesting) {
    stop(support::invalid("nesting", "loops nested too deeply"));
  }
}

ExpressionPtr ExpressionParser::expression() {
  enter();
  auto result = unbounded();
  leave();
  return result;
}

ExpressionPtr ExpressionParser::unbounded() {
  if (accept("(")) return infix();
  if (at_value()) return loop_ir::number(value());
  if (at_number() || (!word().empty() && word().front() == '-')) return integer(whole_number());
  const auto text = identifier();
  if (text == "choose" && accept("(")) {
    auto parts = arguments();
    if (parts.size() == 3) return loop_ir::choose(parts[0], parts[1], parts[2]);
    fail("three arguments of `choose` before this");
    return integer(0);
  }
  if (text == "value" && accept("(")) {
    auto index = expression();
    expect(")");
    return convert(std::move(index));
  }
  // Without "(" the name of a function is an ordinary name.
  if (const auto function = called(text); function && accept("(")) {
    auto parts = arguments();
    const auto& facts = operators::facts(*function);
    if (parts.size() < facts.arity || (!facts.any_more && parts.size() > facts.arity)) {
      fail("another number of arguments of `" + text + "` before this");
    }
    return apply(*function, std::move(parts));
  }
  if ((text == "search" || text == "find" || text == "slot" || text == "match") && accept("(")) {
    const auto array = identifier();
    ExpressionPtr parts[3];
    for (auto& part : parts) expect(","), part = expression();
    expect(")");
    auto layout = text == "find" ? Layout::hashed : Layout::filled;
    if (text == "search") layout = Layout::ascending;
    if (text == "match") layout = Layout::distinct;
    return search(array, parts[0], parts[1], parts[2], layout);
  }
  if (accept("[")) {
    auto index = expression();
    expect("]");
    return load(text, std::move(index));
  }
  return name(text);
}

ExpressionPtr ExpressionParser::infix() {
  using operators::Function;
  static const std::vector<Function> functions = {
      Function::add,   Function::subtract,   Function::multiply, Function::divide,
      Function::less,  Function::less_equal, Function::greater,  Function::greater_equal,
      Function::equal, Function::not_equal};
  auto left = expression();
  std::vector<std::string> words;
  for (const auto function : functions) words.emplace_back(operators::facts(function).infix);
  const auto function = functions[static_cast<std::size_t>(choose(words))];
  auto right = expression();
  expect(")");
  return apply(function, {std::move(left), std::move(right)});
}

std::vector<ExpressionPtr> ExpressionParser::arguments() {
  std::vector<ExpressionPtr> arguments;
  do {
    arguments.push_back(expression());
  } while (accept(","));
  expect(")");
  return arguments;
}

operators::Monoid ExpressionParser::monoid() {
  const auto named = operators::monoid_named(word());
  if (!named) fail("a monoid");
  advance();
  return named.value_or(operators::Monoid::sum);
}

}  // namespace schaas::loop_ir

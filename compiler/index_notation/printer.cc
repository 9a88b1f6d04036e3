#include "compiler/index_notation/printer.h"

#include <array>
#include <charconv>
#include <cmath>

// Inverse of the parser, with the fewest parentheses: a pair stands where a part binds less tightly than its
// position asks for. Numbers are the shortest decimal texts that read back as the same double
// (std::to_chars). Keys contain these texts, so none depends on the locale.
namespace schaas::index_notation {
namespace {

using operators::Function;
using operators::Monoid;

// Precedence of an expression's text: that of operators::FunctionFacts for infix operators.
constexpr int of_comparison = 3, of_product = 5, of_unary = 6, of_primary = 7;

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

const char* text_of(std::optional<Monoid> update) {
  if (!update) return "=";
  switch (*update) {
    case Monoid::sum:
      return "+=";
    case Monoid::product:
      return "*=";
    case Monoid::minimum:
      return "min=";
    case Monoid::maximum:
      return "max=";
    case Monoid::logical_or:
      return "or=";
    case Monoid::logical_and:
      return "and=";
  }
  return "=";
}

// Returns how tightly the text binds; a negative number binds like a unary minus.
int precedence(const Expression& expression) {
  if (std::holds_alternative<Product>(expression.node)) return of_product;
  if (const auto* literal = std::get_if<Literal>(&expression.node))
    return std::signbit(literal->value) ? of_unary : of_primary;
  const auto* call = std::get_if<Call>(&expression.node);
  if (call == nullptr || operators::facts(call->function).precedence == 0) return of_primary;
  return operators::facts(call->function).precedence;
}

// Prints an expression in parentheses when it binds less tightly than `least`.
std::string within(const Expression& expression, int least) {
  const std::string text = print(expression);
  return precedence(expression) < least ? '(' + text + ')' : text;
}

// The first part may hold as loosely as the operator itself, the others may not; comparisons do not chain.
std::string infix(const std::vector<Expression>& parts, const char* symbol, int level) {
  std::string out;
  for (const auto& part : parts) {
    const bool first = out.empty();
    if (!first) out += std::string(" ") + symbol + ' ';
    out += within(part, first && level != of_comparison ? level : level + 1);
  }
  return out;
}

// Prints `name(a,b)`, of names or of expressions.
template <class Text>
std::string listed(const std::string& name, const std::vector<Text>& parts) {
  std::string out = name + '(';
  for (const auto& part : parts) {
    if (&part != &parts.front()) out += ',';
    if constexpr (std::is_same_v<Text, Expression>) {
      out += print(part);
    } else {
      out += part;
    }
  }
  return out + ')';
}

// A minus sign before a number would be the number's.
std::string negated(const Expression& argument) {
  const bool number = std::holds_alternative<Literal>(argument.node) && precedence(argument) == of_primary;
  return '-' + (number ? '(' + print(argument) + ')' : within(argument, of_unary));
}

std::string call_text(const Call& call) {
  const auto& facts = operators::facts(call.function);
  if (facts.precedence == 0) return listed(facts.name, call.arguments);
  if (call.function == Function::negate) return negated(call.arguments.front());
  return infix(call.arguments, facts.infix, facts.precedence);
}

std::string bound_text(const std::optional<Bound>& bound) {
  if (!bound) return "";
  const auto* number = std::get_if<std::int64_t>(&*bound);
  return number == nullptr ? std::get<std::string>(*bound) : std::to_string(*number);
}

}  // namespace

std::string print(const std::string& index, const Range& range) {
  if (range.is_fixed) {
    const std::string coordinate = bound_text(range.begin);
    return std::holds_alternative<std::string>(*range.begin) ? '(' + coordinate + ')' : coordinate;
  }
  std::string out = index + '(' + bound_text(range.begin) + ':' + bound_text(range.end);
  if (range.step) out += ':' + bound_text(range.step);
  return out + ')';
}

std::string print(const Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::vector<std::string> modes = access.indices;
  for (std::size_t mode = 0; mode < modes.size(); ++mode) {
    if (const Range* range = mode_range(access, mode)) modes[mode] = print(modes[mode], *range);
  }
  return listed(access.tensor, modes);
}

std::string print(const Expression& expression) {
  if (const auto* access = std::get_if<Access>(&expression.node)) return print(*access);
  if (const auto* product = std::get_if<Product>(&expression.node))
    return infix(product->factors, "*", of_product);
  if (const auto* literal = std::get_if<Literal>(&expression.node)) return number_text(literal->value);
  if (const auto* coordinate = std::get_if<Coordinate>(&expression.node)) return coordinate->index;
  if (const auto* call = std::get_if<Call>(&expression.node)) return call_text(*call);
  const auto& reduction = std::get<Reduction>(expression.node);
  return listed(operators::name(reduction.monoid), reduction.indices) + '(' + print(reduction.body.front()) +
         ')';
}

std::string print(const Assignment& assignment) {
  return print(assignment.result) + ' ' + text_of(assignment.update) + ' ' + print(assignment.value);
}

std::string print(const Program& program) {
  std::string out;
  if (program.semiring != &operators::plus_times()) out = std::string(program.semiring->name) + ": ";
  for (const auto& statement : program.statements) {
    if (&statement != &program.statements.front()) out += "; ";
    out += print(statement);
  }
  return out;
}

}  // namespace schaas::index_notation

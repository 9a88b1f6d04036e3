#include "compiler/lower/emit/values.h"

#include <algorithm>

// Values are expressions of a leaf over the elements of its operands. An operand that may be absent
// is loaded only where its flag is 1. An absent factor or dividend makes its product or quotient zero,
// whatever the other parts are, so one choice stands around the whole. Parts of a value that the loops below
// do not change are computed before them and known by name.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Match;
using operators::Function;

namespace {

/// Applies infix functions to two arguments at a time, others to all.
ExpressionPtr called(Function function, std::vector<ExpressionPtr> arguments) {
  if (!operators::facts(function).any_more) return loop_ir::apply(function, std::move(arguments));
  ExpressionPtr folded = arguments.front();
  for (std::size_t n = 1; n < arguments.size(); ++n)
    folded = loop_ir::apply(function, {std::move(folded), std::move(arguments[n])});
  return folded;
}

}  // namespace

void Values::hoist(const Scope& scope, PartialProduct& partial, Statements& out) const {
  std::vector<int> ready;
  std::vector<int> later;
  for (const int factor : partial.factors) {
    // A pattern is always one where a loop walks its operand alone.
    const bool idle = facts_.operand(factor).pattern && levels_.is_complete(factor, scope) &&
                      !levels_.position_of(factor, scope).present;
    if (!idle) (levels_.is_complete(factor, scope) ? ready : later).push_back(factor);
  }
  if (ready.empty()) {
    partial.factors = std::move(later);
    return;
  }
  auto value = product(scope, partial.prefix, ready);
  if (!std::holds_alternative<loop_ir::Name>(value->node)) {
    const std::string text = facts_.fresh("v");
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::value, value}));
    value = loop_ir::name(text);
  }
  partial = PartialProduct{later, value, known_factor(ready, partial.prefix, scope)};
}

/// Returns the only factor that has just become known, when it is an element at a position.
std::optional<KnownFactor> Values::known_factor(const std::vector<int>& ready, const ExpressionPtr& scale,
                                                const Scope& scope) const {
  const Position& position = levels_.position_of(ready.front(), scope);
  if (ready.size() != 1 || position.present || facts_.operand(ready.front()).pattern) return std::nullopt;
  const auto index = location(position);
  const auto* at = std::get_if<loop_ir::Name>(&index->node);
  const std::string array = facts_.builder.arrays.declared_values(facts_.operand(ready.front()).tensor);
  if (at == nullptr || array.empty()) return std::nullopt;
  return KnownFactor{array, at->name, scale ? scale : loop_ir::number(1)};
}

void Values::hoist_values(const NestPtr& chain, Scope& scope, Statements& out) const {
  const NestPtr* at = &chain;
  while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
  const auto& leaf = std::get<Leaf>((*at)->node);
  if (leaf.value) hoist_value(leaf.value, scope, out);
}

void Values::hoist_value(const ValuePtr& value, Scope& scope, Statements& out) const {
  const auto* product = std::get_if<Multiplied>(&value->node);
  const auto* call = std::get_if<Called>(&value->node);
  if ((product == nullptr && call == nullptr) || scope.known.count(value.get()) > 0) return;
  if (!is_known(value, scope)) {
    for (const auto& part : product != nullptr ? product->factors : call->arguments)
      hoist_value(part, scope, out);
    return;
  }
  const std::string text = facts_.fresh("v");
  out.push_back(make(loop_ir::Let{text, loop_ir::Type::value, evaluate(value, scope, {})}));
  scope.known[value.get()] = text;
}

/// All operands of the value are at complete positions, or hold scalars.
bool Values::is_known(const ValuePtr& value, const Scope& scope) const {
  const auto all = [&](const std::vector<ValuePtr>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const ValuePtr& part) { return is_known(part, scope); });
  };
  return std::visit(
      Match{
          [&](const Read& read) {
            return scope.scalars.count(facts_.operand(read.operand).tensor) > 0 ||
                   levels_.is_complete(read.operand, scope);
          },
          [](const Constant&) { return true; },
          [&](const Coordinate& coordinate) { return scope.coordinates.count(coordinate.index) > 0; },
          [&](const Multiplied& product) { return all(product.factors); },
          [&](const Called& call) { return all(call.arguments); },
      },
      value->node);
}

ExpressionPtr Values::multiply(ExpressionPtr left, ExpressionPtr right) const {
  const auto product = operators::product_of(*facts_.tree.semiring, facts_.builder.kernel.value_type);
  return loop_ir::apply(product, {std::move(left), std::move(right)});
}

ExpressionPtr Values::product(const Scope& scope, ExpressionPtr prefix,
                              const std::vector<int>& factors) const {
  std::set<int> maybe_absent;
  for (const int factor : factors) {
    if (levels_.position_of(factor, scope).present) maybe_absent.insert(factor);
    if (facts_.operand(factor).pattern) continue;
    auto value = load_of(factor, scope);
    prefix = prefix ? multiply(std::move(prefix), std::move(value)) : std::move(value);
  }
  if (!prefix) prefix = loop_ir::number(facts_.tree.semiring->one);
  const auto condition = presence(maybe_absent, scope);
  return condition ? loop_ir::choose(condition, prefix, loop_ir::number(facts_.tree.semiring->zero)) : prefix;
}

ExpressionPtr Values::load_of(int number, const Scope& scope) const {
  if (facts_.operand(number).pattern) return loop_ir::number(facts_.tree.semiring->one);
  const auto scalar = scope.scalars.find(facts_.operand(number).tensor);
  if (scalar != scope.scalars.end()) return loop_ir::name(scalar->second);
  SCHAAS_CHECK(levels_.is_complete(number, scope),
               "`" + facts_.tensor_of(number).name + "` is read before its indices are bound");
  return loop_ir::load(facts_.builder.arrays.values(facts_.operand(number).tensor),
                       location(levels_.position_of(number, scope)));
}

/// Returns the element of an operand, or the fill value where it is not stored.
ExpressionPtr Values::value_of(int number, const Scope& scope) const {
  auto value = load_of(number, scope);
  const auto& present = levels_.position_of(number, scope).present;
  return present ? loop_ir::choose(present, std::move(value), loop_ir::number(facts_.tensor_of(number).fill))
                 : value;
}

/// Replaces `+` by the sum of the semiring.
Function Values::meant(Function function) const {
  return function == Function::add ? operators::combine(facts_.tree.semiring->sum) : function;
}

ExpressionPtr Values::evaluate(const ValuePtr& value, const Scope& scope,
                               const std::set<int>& present) const {
  if (const auto known = scope.known.find(value.get()); known != scope.known.end())
    return loop_ir::name(known->second);
  return std::visit(Match{
                        [&](const Read& read) {
                          return present.count(read.operand) > 0 ? load_of(read.operand, scope)
                                                                 : value_of(read.operand, scope);
                        },
                        [&](const Constant& constant) { return loop_ir::number(constant.value); },
                        [&](const Coordinate& coordinate) {
                          return loop_ir::convert(loop_ir::name(scope.coordinates.at(coordinate.index)));
                        },
                        [&](const Multiplied&) { return evaluate_zeros(value, scope, present); },
                        [&](const Called& call) {
                          if (call.function == Function::divide) return evaluate_zeros(value, scope, present);
                          std::vector<ExpressionPtr> arguments;
                          for (const auto& each : call.arguments)
                            arguments.push_back(evaluate(each, scope, present));
                          return called(meant(call.function), std::move(arguments));
                        },
                    },
                    value->node);
}

/// Evaluates a product or quotient as zero where an operand that annihilates it is not stored, whatever the
/// others are.
ExpressionPtr Values::evaluate_zeros(const ValuePtr& value, const Scope& scope,
                                     const std::set<int>& present) const {
  std::set<int> needed;
  annihilators(value, scope, needed);
  std::set<int> known = present;
  known.insert(needed.begin(), needed.end());
  for (const int each : present) needed.erase(each);
  ExpressionPtr result;
  if (const auto* product = std::get_if<Multiplied>(&value->node)) {
    for (const auto& factor : product->factors) {
      auto next = evaluate(factor, scope, known);
      result = result ? multiply(std::move(result), std::move(next)) : std::move(next);
    }
  } else {
    const auto& quotient = std::get<Called>(value->node);
    result = loop_ir::apply(quotient.function, {evaluate(quotient.arguments[0], scope, known),
                                                evaluate(quotient.arguments[1], scope, known)});
  }
  const auto condition = presence(needed, scope);
  return condition ? loop_ir::choose(condition, result, loop_ir::number(facts_.tree.semiring->zero)) : result;
}

void Values::annihilators(const ValuePtr& value, const Scope& scope, std::set<int>& out) const {
  if (const auto* read = std::get_if<Read>(&value->node)) {
    const bool zero = facts_.tensor_of(read->operand).fill == facts_.tree.semiring->zero;
    if (zero && levels_.position_of(read->operand, scope).present) out.insert(read->operand);
  } else if (const auto* product = std::get_if<Multiplied>(&value->node)) {
    for (const auto& factor : product->factors) annihilators(factor, scope, out);
  } else if (const auto* call = std::get_if<Called>(&value->node)) {
    const bool quotient = call->function == Function::divide || call->function == Function::negate;
    if (quotient && facts_.tree.semiring->zero == 0) annihilators(call->arguments.front(), scope, out);
  }
}

ExpressionPtr Values::presence(const std::set<int>& operands, const Scope& scope) const {
  ExpressionPtr all;
  for (const int number : operands) {
    const auto& present = levels_.position_of(number, scope).present;
    all = all ? loop_ir::apply(Function::logical_and, {all, present}) : present;
  }
  return all;
}

}  // namespace schaas::lower

#include <algorithm>

#include "compiler/lower/emit/emitter.h"

// Values: expressions of a leaf over the elements of its operands, and stores of them. An operand that may
// be absent is loaded only where its flag is 1. An absent factor or dividend makes its product or quotient
// zero, whatever the other parts are, so one choice stands around the whole. Parts of a value that the loops
// below do not change are computed before them and known by name.
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

/// Multiplies the factors that are complete into the prefix, and names the product.
void Emitter::hoist(const Scope& scope, PartialProduct& partial, Statements& out) {
  std::vector<int> ready;
  std::vector<int> later;
  for (const int factor : partial.factors) {
    // A pattern is always one where a loop walks its operand alone.
    const bool idle =
        operand(factor).pattern && is_complete(factor, scope) && !position_of(factor, scope).present;
    if (!idle) (is_complete(factor, scope) ? ready : later).push_back(factor);
  }
  if (ready.empty()) {
    partial.factors = std::move(later);
    return;
  }
  auto value = product(scope, partial.prefix, ready);
  if (!std::holds_alternative<loop_ir::Name>(value->node)) {
    const std::string text = builder_.names().fresh("v");
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::value, value}));
    value = loop_ir::name(text);
  }
  partial = PartialProduct{later, value};
}

/// Computes parts of the leaf's value before the loops of the chain that do not change them.
void Emitter::hoist_values(const NestPtr& chain, const Scope& scope, Statements& out) {
  const NestPtr* at = &chain;
  while (const auto* loop = std::get_if<Loop>(&(*at)->node)) at = &loop->body;
  const auto& leaf = std::get<Leaf>((*at)->node);
  if (leaf.value) hoist_value(leaf.value, scope, out);
}

void Emitter::hoist_value(const ValuePtr& value, const Scope& scope, Statements& out) {
  const auto* product = std::get_if<Multiplied>(&value->node);
  const auto* call = std::get_if<Called>(&value->node);
  if ((product == nullptr && call == nullptr) || known_.count(value.get()) > 0) return;
  if (!is_known(value, scope)) {
    for (const auto& part : product != nullptr ? product->factors : call->arguments)
      hoist_value(part, scope, out);
    return;
  }
  const std::string text = builder_.names().fresh("v");
  out.push_back(make(loop_ir::Let{text, loop_ir::Type::value, evaluate(value, scope, {})}));
  known_[value.get()] = text;
}

/// All operands of the value are at complete positions, or hold scalars.
bool Emitter::is_known(const ValuePtr& value, const Scope& scope) const {
  const auto all = [&](const std::vector<ValuePtr>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const ValuePtr& part) { return is_known(part, scope); });
  };
  return std::visit(Match{
                        [&](const Read& read) {
                          return scalars_.count(operand(read.operand).tensor) > 0 ||
                                 is_complete(read.operand, scope);
                        },
                        [](const Constant&) { return true; },
                        [&](const Multiplied& product) { return all(product.factors); },
                        [&](const Called& call) { return all(call.arguments); },
                    },
                    value->node);
}

ExpressionPtr Emitter::multiply(ExpressionPtr left, ExpressionPtr right) const {
  const auto product = operators::product_of(*tree_.semiring, builder_.value_type());
  return loop_ir::apply(product, {std::move(left), std::move(right)});
}

/// Returns the product of prefix and factors; the semiring's zero where one of them is absent.
ExpressionPtr Emitter::product(const Scope& scope, ExpressionPtr prefix, const std::vector<int>& factors) {
  std::set<int> maybe_absent;
  for (const int factor : factors) {
    if (position_of(factor, scope).present) maybe_absent.insert(factor);
    if (operand(factor).pattern) continue;
    auto value = load_of(factor, scope);
    prefix = prefix ? multiply(std::move(prefix), std::move(value)) : std::move(value);
  }
  if (!prefix) prefix = loop_ir::number(tree_.semiring->one);
  const auto condition = presence(maybe_absent, scope);
  return condition ? loop_ir::choose(condition, prefix, loop_ir::number(tree_.semiring->zero)) : prefix;
}

ExpressionPtr Emitter::load_of(int number, const Scope& scope) {
  if (operand(number).pattern) return loop_ir::number(tree_.semiring->one);
  const auto scalar = scalars_.find(operand(number).tensor);
  if (scalar != scalars_.end()) return loop_ir::name(scalar->second);
  SCHAAS_CHECK(is_complete(number, scope),
               "`" + tensor_of(number).name + "` is read before its indices are bound");
  return loop_ir::load(builder_.values(operand(number).tensor), location(position_of(number, scope)));
}

/// Returns the element of an operand, or the fill value where it is not stored.
ExpressionPtr Emitter::value_of(int number, const Scope& scope) {
  auto value = load_of(number, scope);
  const auto& present = position_of(number, scope).present;
  return present ? loop_ir::choose(present, std::move(value), loop_ir::number(tensor_of(number).fill))
                 : value;
}

/// Replaces `+` by the sum of the semiring.
Function Emitter::meant(Function function) const {
  return function == Function::add ? operators::combine(tree_.semiring->sum) : function;
}

/// Evaluates a value; parts already known are names. `present`: operands known to be stored at this point.
ExpressionPtr Emitter::evaluate(const ValuePtr& value, const Scope& scope, const std::set<int>& present) {
  if (const auto known = known_.find(value.get()); known != known_.end()) return loop_ir::name(known->second);
  return std::visit(Match{
                        [&](const Read& read) {
                          return present.count(read.operand) > 0 ? load_of(read.operand, scope)
                                                                 : value_of(read.operand, scope);
                        },
                        [&](const Constant& constant) { return loop_ir::number(constant.value); },
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
ExpressionPtr Emitter::evaluate_zeros(const ValuePtr& value, const Scope& scope,
                                      const std::set<int>& present) {
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
  return condition ? loop_ir::choose(condition, result, loop_ir::number(tree_.semiring->zero)) : result;
}

/// Collects operands whose absence makes the value the semiring's zero.
void Emitter::annihilators(const ValuePtr& value, const Scope& scope, std::set<int>& out) const {
  if (const auto* read = std::get_if<Read>(&value->node)) {
    const bool zero = tensor_of(read->operand).fill == tree_.semiring->zero;
    if (zero && position_of(read->operand, scope).present) out.insert(read->operand);
  } else if (const auto* product = std::get_if<Multiplied>(&value->node)) {
    for (const auto& factor : product->factors) annihilators(factor, scope, out);
  } else if (const auto* call = std::get_if<Called>(&value->node)) {
    const bool quotient = call->function == Function::divide || call->function == Function::negate;
    if (quotient && tree_.semiring->zero == 0) annihilators(call->arguments.front(), scope, out);
  }
}

/// Returns the conjunction of the operands' flags, or null without operands.
ExpressionPtr Emitter::presence(const std::set<int>& operands, const Scope& scope) const {
  ExpressionPtr all;
  for (const int number : operands) {
    const auto& present = position_of(number, scope).present;
    all = all ? loop_ir::apply(Function::logical_and, {all, present}) : present;
  }
  return all;
}

void Emitter::write(const Sink& sink, const Scope& scope, const ExpressionPtr& value, Statements& out) {
  switch (sink.kind) {
    case Sink::Kind::array:
      if (tracks(sink.operand)) {
        Scope inserted = scope;
        emit_insert(sink.operand, inserted, out);
        return store(sink, inserted, value, out);
      }
      return store(sink, scope, value, out);
    case Sink::Kind::accumulate:
      out.push_back(make(loop_ir::Accumulate{sink.name, value}));
      return;
    case Sink::Kind::define:
      out.push_back(make(loop_ir::Let{sink.name, loop_ir::Type::value, value}));
      return;
  }
}

void Emitter::store(const Sink& sink, const Scope& scope, const ExpressionPtr& value, Statements& out) {
  SCHAAS_CHECK(is_complete(sink.operand, scope), "a result is written before its indices are bound");
  out.push_back(stored(sink, builder_.values(operand(sink.operand).tensor),
                       location(position_of(sink.operand, scope)), value));
}

}  // namespace schaas::lower

#include "compiler/index_notation/arithmetic.h"

#include <cmath>
#include <utility>

namespace schaas::index_notation {

using operators::Function;

bool is_additive(const Expression& expression) {
  const auto* called = std::get_if<Call>(&expression.node);
  return called != nullptr && (called->function == Function::add || called->function == Function::subtract ||
                               called->function == Function::negate);
}

std::vector<SignedTerm> signed_terms(const Expression& value) {
  if (!is_additive(value)) return {{1, value}};
  std::vector<SignedTerm> terms;
  const Function function = std::get<Call>(value.node).function;
  for (const Expression& part : parts(value)) {
    const bool minus =
        function == Function::negate || (function == Function::subtract && &part != &parts(value).front());
    for (SignedTerm& term : signed_terms(part)) {
      if (minus) term.sign = -term.sign;
      terms.push_back(std::move(term));
    }
  }
  return terms;
}

Expression number(double value) { return {Literal{value}, {}}; }

bool is_number(const Expression& expression, double value) {
  const auto* literal = std::get_if<Literal>(&expression.node);
  return literal != nullptr && literal->value == value;
}

Expression call(Function function, std::vector<Expression> arguments) {
  return {Call{function, std::move(arguments)}, {}};
}

// Infinite numbers stay where they are: 0 * inf is not a number.
Expression multiplied(std::vector<Expression> factors) {
  double constant = 1;
  std::vector<Expression> kept;
  const auto take = [&](const Expression& factor) {
    const auto* literal = std::get_if<Literal>(&factor.node);
    if (literal != nullptr && std::isfinite(literal->value)) {
      constant *= literal->value;
    } else {
      kept.push_back(factor);
    }
  };
  for (const Expression& factor : factors) {
    if (const auto* product = std::get_if<Product>(&factor.node)) {
      for (const Expression& inner : product->factors) take(inner);
    } else {
      take(factor);
    }
  }
  if (constant == 0 || kept.empty()) return number(constant);
  if (constant != 1) kept.insert(kept.begin(), number(constant));
  if (kept.size() == 1) return kept.front();
  return {Product{std::move(kept)}, {}};
}

Expression added(std::vector<Expression> terms) {
  std::vector<Expression> kept;
  for (const Expression& term : terms) {
    const auto* sum = std::get_if<Call>(&term.node);
    if (sum != nullptr && sum->function == Function::add) {
      kept.insert(kept.end(), sum->arguments.begin(), sum->arguments.end());
    } else if (!is_number(term, 0)) {
      kept.push_back(term);
    }
  }
  if (kept.empty()) return number(0);
  if (kept.size() == 1) return kept.front();
  return call(Function::add, std::move(kept));
}

Expression divided(Expression above, Expression below) {
  if (is_number(above, 0) || is_number(below, 1)) return above;
  return call(Function::divide, {std::move(above), std::move(below)});
}

}  // namespace schaas::index_notation

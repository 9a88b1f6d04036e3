#include "compiler/index_notation/gradient/derivative.h"

#include <cmath>
#include <utility>

#include "compiler/index_notation/arithmetic.h"
#include "compiler/support/contains.h"
#include "compiler/support/result.h"

// The rules of differentiation, one function of the language after the other (Griewank and Walther,
// Evaluating Derivatives, table 2.3). The chain rule is a product here, not a cotangent handed down, so that
// `where` can choose between slopes: `where(x > 0, log(x), 0)` has the slope where(x > 0, 1 / x, 0), and 1 /
// 0 is nowhere multiplied by 0.
namespace schaas::index_notation {
namespace {

using operators::Function;

// sqrt(1 - x^2).
Expression root_beside_square(const Expression& x) {
  return call(Function::sqrt, {call(Function::subtract, {number(1), multiplied({x, x})})});
}

// Returns the slope of a function of one number at `x`; 0 where it is constant almost everywhere.
Expression slope_of_one(Function function, const Expression& x) {
  switch (function) {
    case Function::negate:
      return number(-1);
    case Function::exp:
      return call(Function::exp, {x});
    case Function::expm1:
      return call(Function::exp, {x});
    case Function::log:
      return divided(number(1), x);
    case Function::log1p:
      return divided(number(1), call(Function::add, {number(1), x}));
    case Function::log2:
      return divided(number(1 / std::log(2.0)), x);
    case Function::log10:
      return divided(number(1 / std::log(10.0)), x);
    case Function::sqrt:
      return divided(number(0.5), call(Function::sqrt, {x}));
    case Function::sin:
      return call(Function::cos, {x});
    case Function::cos:
      return multiplied({number(-1), call(Function::sin, {x})});
    case Function::tan: {
      const Expression tan = call(Function::tan, {x});
      return added({number(1), multiplied({tan, tan})});
    }
    case Function::asin:
      return divided(number(1), root_beside_square(x));
    case Function::acos:
      return divided(number(-1), root_beside_square(x));
    case Function::atan:
      return divided(number(1), call(Function::add, {number(1), multiplied({x, x})}));
    case Function::sinh:
      return call(Function::cosh, {x});
    case Function::cosh:
      return call(Function::sinh, {x});
    case Function::tanh: {
      const Expression tanh = call(Function::tanh, {x});
      return call(Function::subtract, {number(1), multiplied({tanh, tanh})});
    }
    case Function::sigmoid: {
      const Expression sigmoid = call(Function::sigmoid, {x});
      return multiplied({sigmoid, call(Function::subtract, {number(1), sigmoid})});
    }
    case Function::erf:
      return multiplied({number(2 / std::sqrt(std::acos(-1.0))),
                         call(Function::exp, {call(Function::negate, {multiplied({x, x})})})});
    case Function::relu:
      return call(Function::greater, {x, number(0)});
    case Function::abs:
      return call(Function::sign, {x});
    default:
      return number(0);
  }
}

// 1 where `one` is the extremum, 0.5 where `other` is as well, else 0.
Expression share_of(Function extremum, const Expression& one, const Expression& other) {
  const bool greatest = extremum == Function::maximum;
  return multiplied(
      {number(0.5),
       call(Function::add, {call(greatest ? Function::greater : Function::less, {one, other}),
                            call(greatest ? Function::greater_equal : Function::less_equal, {one, other})})});
}

// `max(a,b,c)` is max(max(a,b),c).
Expression derivative_of_extremum(const Call& extremum, const Access& wanted) {
  std::vector<Expression> first(extremum.arguments.begin(), extremum.arguments.end() - 1);
  const Expression left = first.size() == 1 ? first.front() : call(extremum.function, std::move(first));
  const Expression& right = extremum.arguments.back();
  return added({multiplied({share_of(extremum.function, left, right), derivative(left, wanted)}),
                multiplied({share_of(extremum.function, right, left), derivative(right, wanted)})});
}

// Powers of 0 have no logarithm, and where the exponent is 0 the base does not count.
Expression derivative_of_power(const Expression& base, const Expression& exponent, const Access& wanted) {
  const Expression by_base = derivative(base, wanted);
  if (const auto* constant = std::get_if<Literal>(&exponent.node)) {
    const double lower = constant->value - 1;
    const Expression power = lower == 0   ? number(1)
                             : lower == 1 ? base
                                          : call(Function::power, {base, number(lower)});
    return multiplied({exponent, power, by_base});
  }
  const auto zero = [](const Expression& value) { return call(Function::equal, {value, number(0)}); };
  const Expression lower = call(Function::subtract, {exponent, number(1)});
  const Expression through_base =
      call(Function::where,
           {zero(exponent), number(0), multiplied({exponent, call(Function::power, {base, lower})})});
  const Expression through_exponent = call(
      Function::where, {zero(base), number(0),
                        multiplied({call(Function::power, {base, exponent}), call(Function::log, {base})})});
  return added(
      {multiplied({through_base, by_base}), multiplied({through_exponent, derivative(exponent, wanted)})});
}

Expression derivative_of_product(const std::vector<Expression>& factors, const Access& wanted) {
  std::vector<Expression> terms;
  for (std::size_t at = 0; at < factors.size(); ++at) {
    std::vector<Expression> changed = factors;
    changed[at] = derivative(factors[at], wanted);
    terms.push_back(multiplied(std::move(changed)));
  }
  return added(std::move(terms));
}

Expression derivative_of_quotient(const Expression& above, const Expression& below, const Access& wanted) {
  return added(
      {divided(derivative(above, wanted), below),
       divided(multiplied({number(-1), above, derivative(below, wanted)}), multiplied({below, below}))});
}

Expression derivative_of_call(const Call& called, const Access& wanted) {
  const auto& arguments = called.arguments;
  switch (called.function) {
    case Function::add: {
      std::vector<Expression> terms;
      for (const Expression& argument : arguments) terms.push_back(derivative(argument, wanted));
      return added(std::move(terms));
    }
    case Function::subtract:
      return added(
          {derivative(arguments[0], wanted), multiplied({number(-1), derivative(arguments[1], wanted)})});
    case Function::multiply:
      return derivative_of_product(arguments, wanted);
    case Function::divide:
      return derivative_of_quotient(arguments[0], arguments[1], wanted);
    case Function::power:
      return derivative_of_power(arguments[0], arguments[1], wanted);
    case Function::minimum:
    case Function::maximum:
      return derivative_of_extremum(called, wanted);
    case Function::where: {
      Expression chosen = derivative(arguments[1], wanted), other = derivative(arguments[2], wanted);
      if (chosen == other) return chosen;
      return call(Function::where, {arguments[0], std::move(chosen), std::move(other)});
    }
    default:
      break;
  }
  if (arguments.size() != 1) return number(0);
  const Expression slope = slope_of_one(called.function, arguments[0]);
  return is_number(slope, 0) ? slope : multiplied({slope, derivative(arguments[0], wanted)});
}

// Returns `term` times a slope: the derivative of one of its factors, which the term lacks.
QuotientTerm with_slope(QuotientTerm term, const QuotientTerm& slope) {
  term.factor *= slope.factor;
  term.above.insert(term.above.end(), slope.above.begin(), slope.above.end());
  term.below.insert(term.below.end(), slope.below.begin(), slope.below.end());
  return term;
}

std::vector<QuotientTerm> slopes_of_factor(const Expression& factor, const Access& wanted) {
  if (is_additive(factor)) return derivative_terms(factor, wanted);
  return {quotient_term(derivative(factor, wanted))};
}

}  // namespace

std::vector<QuotientTerm> derivative_terms(const Expression& value, const Access& wanted) {
  std::vector<QuotientTerm> terms;
  const auto add = [&](QuotientTerm term) {
    if (term.factor != 0) add_term(terms, std::move(term));
  };
  for (const SignedTerm& part : signed_terms(value)) {
    QuotientTerm whole = quotient_term(part.value);
    whole.factor *= part.sign;
    for (std::size_t at = 0; at < whole.above.size(); ++at) {
      QuotientTerm others = whole;
      others.above.erase(others.above.begin() + static_cast<std::ptrdiff_t>(at));
      for (const QuotientTerm& slope : slopes_of_factor(whole.above[at], wanted))
        add(with_slope(others, slope));
    }
    for (const Expression& divisor : whole.below) {
      QuotientTerm squared = whole;
      squared.factor = -squared.factor;
      squared.below.push_back(divisor);
      for (const QuotientTerm& slope : slopes_of_factor(divisor, wanted)) add(with_slope(squared, slope));
    }
  }
  return terms;
}

Expression derivative(const Expression& value, const Access& wanted) {
  if (const auto* access = std::get_if<Access>(&value.node)) return number(*access == wanted ? 1 : 0);
  if (!support::contains(operands(value), wanted)) return number(0);
  if (const auto* product = std::get_if<Product>(&value.node))
    return derivative_of_product(product->factors, wanted);
  const auto* called = std::get_if<Call>(&value.node);
  SCHAAS_CHECK(called != nullptr, "a reduction has no derivative at one element");
  return derivative_of_call(*called, wanted);
}

}  // namespace schaas::index_notation

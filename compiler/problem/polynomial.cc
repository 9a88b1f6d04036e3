#include "compiler/problem/polynomial.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

// Exact arithmetic on constraints. A polynomial maps products of symbols to fractions and holds no zero, so
// equal polynomials are equal maps. Every 64-bit operation is checked: what does not fit is an error, never a
// wrong constraint. Numbers of terms and degrees are bounded, so no text makes a product of sums explode.
// Rounding happens once, in the normal form, and only towards the tighter whole number.
namespace schaas::problem {
namespace {

using support::Diagnostic;
using support::Result;

Diagnostic out_of_range() {
  return support::invalid("constant-range", "the coefficients of this constraint do not fit in 64 bits");
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}
std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

// Adds coefficient * powers to `out`; terms that cancel vanish.
Result<void> accumulate(Polynomial& out, const Powers& powers, const Rational& coefficient) {
  const auto [entry, fresh] = out.emplace(powers, coefficient);
  if (!fresh) {
    const auto total = add(entry->second, coefficient);
    if (!total) return out_of_range();
    entry->second = *total;
  }
  if (entry->second.numerator == 0) out.erase(entry);
  if (out.size() > max_terms) {
    return support::invalid("too-complex", "the constraint has more than " + std::to_string(max_terms) +
                                               " terms when multiplied out");
  }
  return {};
}

Result<Powers> multiply_powers(const Powers& a, const Powers& b) {
  Powers out = a;
  for (const auto& [symbol, exponent] : b) {
    int& total = out[symbol];
    total += exponent;
    if (total == 0) out.erase(symbol);
  }
  int degree = 0;
  for (const auto& [symbol, exponent] : out) degree += std::abs(exponent);
  if (degree > max_degree) {
    return support::invalid("too-complex", "the constraint has a product of more than " +
                                               std::to_string(max_degree) +
                                               " extents and counts when multiplied out");
  }
  return out;
}

// Multiplies by the least product of symbols that leaves no negative exponent. Symbols are positive, so the
// sign of the whole stays.
Result<Polynomial> without_denominators(const Polynomial& a) {
  Powers least;
  Rational scale{1, 1};
  for (const auto& [powers, coefficient] : a) {
    for (const auto& [symbol, exponent] : powers) {
      if (exponent < 0) least[symbol] = std::max(least[symbol], -exponent);
    }
    const std::int64_t missing = coefficient.denominator / std::gcd(scale.numerator, coefficient.denominator);
    const auto common = product(scale.numerator, missing);
    if (!common) return out_of_range();
    scale.numerator = *common;
  }
  return multiply(a, Polynomial{{least, scale}});
}

// Rounds down, below 0 too.
std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b != 0 && a < 0 ? quotient - 1 : quotient;
}

Monomial monomial(std::int64_t coefficient, const Powers& powers) {
  return {coefficient, {powers.begin(), powers.end()}};
}

}  // namespace

std::optional<Rational> make_rational(std::int64_t numerator, std::int64_t denominator) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();  // its negative does not exist
  if (denominator == 0 || numerator == least || denominator == least) return std::nullopt;
  const std::int64_t sign = denominator < 0 ? -1 : 1;
  const std::int64_t common = std::gcd(numerator, denominator);
  return Rational{sign * numerator / common, sign * denominator / common};
}

std::optional<Rational> add(const Rational& a, const Rational& b) {
  // Each side is extended by the factors it lacks alone, which keeps numbers small.
  const std::int64_t common = std::gcd(a.denominator, b.denominator);
  const auto left = product(a.numerator, b.denominator / common);
  const auto right = product(b.numerator, a.denominator / common);
  const auto denominator = product(a.denominator, b.denominator / common);
  if (!left || !right || !denominator) return std::nullopt;
  const auto numerator = sum(*left, *right);
  return numerator ? make_rational(*numerator, *denominator) : std::nullopt;
}

std::optional<Rational> multiply(const Rational& a, const Rational& b) {
  // Fractions in lowest terms are cancelled crosswise first: then only a result that does not fit overflows.
  const auto left = make_rational(a.numerator, b.denominator);
  const auto right = make_rational(b.numerator, a.denominator);
  if (!left || !right) return std::nullopt;
  const auto numerator = product(left->numerator, right->numerator);
  const auto denominator = product(left->denominator, right->denominator);
  return numerator && denominator ? make_rational(*numerator, *denominator) : std::nullopt;
}

std::optional<Rational> rational_of_literal(std::string_view literal) {
  const std::size_t e = std::min(literal.find_first_of("eE"), literal.size());
  std::string digits;
  int exponent = 0;
  bool fraction = false;
  for (const char c : literal.substr(0, e)) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    digits += c;
    exponent -= fraction ? 1 : 0;
  }
  if (e < literal.size()) {
    const bool negative = literal[e + 1] == '-';
    int written = 0;
    for (const char c : literal.substr(e + 1)) {
      // Capped: far smaller exponents leave 64 bits already.
      if (c >= '0' && c <= '9') written = std::min(written * 10 + (c - '0'), 1'000'000);
    }
    exponent += negative ? -written : written;
  }
  // Zeros at the end move into the exponent, so that "1000000.0" is read like "1e6".
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  std::int64_t value = 0, power = 1;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  if (value == 0) return Rational{0, 1};
  for (int n = 0; n < std::abs(exponent); ++n) {
    if (__builtin_mul_overflow(power, 10, &power)) return std::nullopt;
  }
  return exponent < 0 ? make_rational(value, power) : multiply(Rational{value, 1}, Rational{power, 1});
}

Polynomial constant(const Rational& value) {
  return value.numerator == 0 ? Polynomial{} : Polynomial{{Powers{}, value}};
}
Polynomial symbol(const Symbol& symbol) { return {{Powers{{symbol, 1}}, Rational{1, 1}}}; }

Result<Polynomial> add(const Polynomial& a, const Polynomial& b) {
  Polynomial out = a;
  for (const auto& [powers, coefficient] : b) SCHAAS_RETURN_IF_ERROR(accumulate(out, powers, coefficient));
  return out;
}

Result<Polynomial> subtract(const Polynomial& a, const Polynomial& b) {
  Polynomial negative = b;
  for (auto& [powers, coefficient] : negative) coefficient.numerator = -coefficient.numerator;
  return add(a, negative);
}

Result<Polynomial> multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial out;
  for (const auto& [powers_a, coefficient_a] : a) {
    for (const auto& [powers_b, coefficient_b] : b) {
      const auto coefficient = multiply(coefficient_a, coefficient_b);
      if (!coefficient) return out_of_range();
      SCHAAS_ASSIGN_OR_RETURN(const Powers powers, multiply_powers(powers_a, powers_b));
      SCHAAS_RETURN_IF_ERROR(accumulate(out, powers, *coefficient));
    }
  }
  return out;
}

std::optional<Polynomial> reciprocal(const Polynomial& a) {
  if (a.size() != 1) return std::nullopt;
  const auto& [powers, coefficient] = *a.begin();
  const auto inverse = make_rational(coefficient.denominator, coefficient.numerator);
  if (!inverse) return std::nullopt;
  Powers negative = powers;
  for (auto& [symbol, exponent] : negative) exponent = -exponent;
  return Polynomial{{negative, *inverse}};
}

Result<std::optional<Constraint>> normal_form(const Polynomial& difference, bool strict) {
  SCHAAS_ASSIGN_OR_RETURN(Polynomial whole, without_denominators(difference));
  // Whole numbers: 0 < x is 0 <= x - 1.
  if (strict) SCHAAS_RETURN_IF_ERROR(accumulate(whole, {}, {-1, 1}));
  std::int64_t free = 0, divisor = 0;  // free term; greatest common divisor of the others
  for (const auto& [powers, coefficient] : whole) {
    if (powers.empty()) {
      free = coefficient.numerator;
    } else {
      divisor = std::gcd(divisor, coefficient.numerator);
    }
  }
  if (divisor == 0) {
    if (free >= 0) return std::optional<Constraint>();
    return support::invalid("never-true", "this is never true");
  }
  // The other terms are a multiple of the divisor, so the constant is rounded to the tighter one.
  free = floor_divide(free, divisor);
  if (free == std::numeric_limits<std::int64_t>::min()) return out_of_range();
  Constraint constraint;
  const auto put = [&constraint](std::int64_t coefficient, const Powers& powers) {
    if (coefficient > 0) constraint.rhs.push_back(monomial(coefficient, powers));
    if (coefficient < 0) constraint.lhs.push_back(monomial(-coefficient, powers));
  };
  put(free, {});
  for (const auto& [powers, coefficient] : whole) {
    if (!powers.empty()) put(coefficient.numerator / divisor, powers);
  }
  // Symbols are positive: a difference without a negative term is never negative.
  if (constraint.lhs.empty()) return std::optional<Constraint>();
  if (constraint.rhs.empty() && free < 0) return support::invalid("never-true", "this is never true");
  std::sort(constraint.lhs.begin(), constraint.lhs.end());
  std::sort(constraint.rhs.begin(), constraint.rhs.end());
  return std::optional(std::move(constraint));
}

Polynomial difference_of(const Constraint& constraint) {
  Polynomial out;
  for (const auto& term : constraint.rhs)
    out[{term.powers.begin(), term.powers.end()}].numerator += term.coefficient;
  for (const auto& term : constraint.lhs)
    out[{term.powers.begin(), term.powers.end()}].numerator -= term.coefficient;
  return out;
}

}  // namespace schaas::problem

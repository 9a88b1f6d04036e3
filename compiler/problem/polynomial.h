#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compiler/problem/constraint.h"
#include "compiler/support/result.h"

namespace schaas::problem {

/// An exact fraction in lowest terms, denominator positive. Arithmetic answers nullopt when it leaves 64
/// bits.
struct Rational {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  bool operator==(const Rational&) const = default;
};
std::optional<Rational> make_rational(std::int64_t numerator, std::int64_t denominator);
std::optional<Rational> add(const Rational& a, const Rational& b);
std::optional<Rational> multiply(const Rational& a, const Rational& b);
/// The exact value of a literal ("12", "0.001", "1e-3"); nullopt when numerator or denominator needs more
/// than 64 bits.
std::optional<Rational> rational_of_literal(std::string_view literal);

/// A sum of coefficient * product of symbol powers; exponents may be negative (a density is
/// nonzeros / extents) and are never 0, coefficients are never 0. Symbols stand for positive numbers.
using Powers = std::map<Symbol, int>;
using Polynomial = std::map<Powers, Rational>;

/// Arithmetic; errors are invalid [constant-range] (a coefficient leaves 64 bits) and [too-complex] (more
/// than max_terms terms, or a product of more than max_degree symbols), without a source range.
inline constexpr std::size_t max_terms = 64;
inline constexpr int max_degree = 24;
Polynomial constant(const Rational& value);
Polynomial symbol(const Symbol& symbol);
support::Result<Polynomial> add(const Polynomial& a, const Polynomial& b);
support::Result<Polynomial> subtract(const Polynomial& a, const Polynomial& b);
support::Result<Polynomial> multiply(const Polynomial& a, const Polynomial& b);
/// 1 / a for a single term; nullopt for 0 and for sums.
std::optional<Polynomial> reciprocal(const Polynomial& a);

/// The normal form of `0 <= difference` or `0 < difference`: nullopt when it always holds; invalid
/// [never-true] when it never does; otherwise one Constraint. Tightened over the integers: `2*k <= 5` becomes
/// `k <= 2`.
support::Result<std::optional<Constraint>> normal_form(const Polynomial& difference, bool strict);

/// rhs - lhs of a constraint.
Polynomial difference_of(const Constraint& constraint);

}  // namespace schaas::problem

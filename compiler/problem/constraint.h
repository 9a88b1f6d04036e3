#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/support/source_range.h"

namespace schaas::problem {

/// A symbol of a constraint. `extent`: of index variable `name`. `nonzeros`: number of stored entries of the
/// first `levels` storage levels of tensor `name` (levels == order: its nonzeros). `average`: matches or
/// steps of an intersection, by the name costs print; in sizes alone, in no constraint.
struct Symbol {
  enum class Kind { extent, nonzeros, average } kind = Kind::extent;
  std::string name;
  int levels = 0;
  auto operator<=>(const Symbol&) const = default;
};

/// coefficient * product of symbols (each with its exponent >= 1, sorted by symbol).
struct Monomial {
  std::int64_t coefficient = 1;
  std::vector<std::pair<Symbol, int>> powers;
  auto operator<=>(const Monomial&) const = default;
};

/// sum(lhs) <= sum(rhs) over integers, in normal form. Every coefficient is positive, no monomial stands on
/// both sides, the coefficients of both sides together have no common divisor, monomials are sorted. A strict
/// comparison a < b has become a + 1 <= b, since extents and nonzero counts are integers. A density has been
/// multiplied out: density(B) = nonzeros(B) / product of the extents of B's indices. An equality has become
/// two constraints.
struct Constraint {
  std::vector<Monomial> lhs;
  std::vector<Monomial> rhs;
  auto operator<=>(const Constraint&) const = default;
};

/// Names a constraint may use.
struct ConstraintScope {
  struct Tensor {
    std::string name;
    std::vector<std::string> indices;  ///< one per mode
  };
  std::vector<std::string> indices;
  std::vector<Tensor> tensors;
};

/// Parses one chain of comparisons, e.g. `8 <= k <= 256`, `density(B) <= 1e-3`, `10*j < k`, `|i| == 64`,
/// `nnz(B,2) <= 4*nnz(B)`; comparisons <= < >= > == = ; + - * / of extents (`i` or `|i|`), nnz(T),
/// nnz(T,levels), density(T), integer or decimal literals (`1e6`, `0.001`), parentheses; a divisor is a
/// single term. Literals are exact fractions, division is exact too. Extents and counts are whole numbers >=
/// 0, and those divided by are >= 1. Trivially true parts vanish. Errors: invalid [syntax], [unknown-index],
/// [unknown-tensor] (with suggestions), [levels], [constant-range], [never-true] (false whatever the extents,
/// e.g. `3 < 2`), [nesting], [too-complex] (polynomial.h), and those of index_notation::lex; unsupported
/// [division] by a sum.
support::Result<std::vector<Constraint>> parse_constraint(std::string_view text,
                                                          const ConstraintScope& scope);

/// One comparison of a chain, or one direction of an equality, and where it stands in the text.
struct Comparison {
  Constraint constraint;
  support::SourceRange range;
};
/// Parses like parse_constraint, with source ranges.
support::Result<std::vector<Comparison>> parse_comparisons(std::string_view text,
                                                           const ConstraintScope& scope);

/// "8 <= k", "1000*nnz(B,2) <= i*j" (levels are always written: a symbol does not know its tensor's order);
/// parse_constraint(print(c)) == {c}.
std::string print(const Constraint& constraint);
std::string print(const Symbol& symbol);

}  // namespace schaas::problem

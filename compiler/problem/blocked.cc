#include "compiler/problem/blocked.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/problem/constraint_set.h"
#include "compiler/problem/polynomial.h"

// Problems over blocks: an index of a blocked matrix becomes one over blocks and one inside a block. An
// extent that is no multiple is rounded up, and of a block only its existence is known. So constraints are
// carried over by bounds in the new symbols: from above on their right side, from below on their left. The
// result follows from the original. A constraint that cannot be carried over is dropped, which only allows
// more sizes.
namespace schaas::problem {
namespace {

using format::Blocking;
using format::Reading;
using index_notation::Access;
using index_notation::Assignment;
using index_notation::Expression;
using support::Result;

Reading reading_of(const Access& access) { return {access.tensor, access.indices}; }

Access split(const Access& access, const Blocking& blocking) {
  return {access.tensor, blocking.of(reading_of(access)).indices, access.range, {}};
}

/// Splits the indices of accesses and of reductions; all else stays.
Expression split(const Expression& value, const Blocking& blocking) {
  Expression out = value;
  if (auto* access = std::get_if<Access>(&out.node)) *access = split(*access, blocking);
  if (auto* reduction = std::get_if<index_notation::Reduction>(&out.node))
    reduction->indices = blocking.of(reduction->indices);
  std::vector<Expression> parts;
  for (const Expression& part : index_notation::parts(value)) parts.push_back(split(part, blocking));
  return parts.empty() ? out : index_notation::with_parts(std::move(out), std::move(parts));
}

Assignment split(Assignment statement, const Blocking& blocking) {
  statement.result = split(statement.result, blocking);
  statement.value = split(statement.value, blocking);
  return statement;
}

/// Bounds the symbols of a constraint by those of blocks.
class Bounds {
 public:
  Bounds(const Problem& problem, const Blocking& blocking) : problem_(problem), blocking_(blocking) {}

  /// Returns the constraint implied for blocks; nothing when it cannot be derived.
  Result<std::optional<Constraint>> of(const Constraint& constraint) {
    unknown_ = false;
    Polynomial difference;
    for (const Monomial& monomial : constraint.rhs) {
      SCHAAS_ASSIGN_OR_RETURN(const Polynomial bound, of(monomial, true));
      SCHAAS_ASSIGN_OR_RETURN(difference, add(difference, bound));
    }
    for (const Monomial& monomial : constraint.lhs) {
      SCHAAS_ASSIGN_OR_RETURN(const Polynomial bound, of(monomial, false));
      SCHAAS_ASSIGN_OR_RETURN(difference, subtract(difference, bound));
    }
    if (unknown_) return std::optional<Constraint>();
    return normal_form(difference, false);
  }

 private:
  static Polynomial number(std::int64_t value) { return constant({value, 1}); }

  /// Bounds a product by the product of the bounds of its symbols.
  Result<Polynomial> of(const Monomial& monomial, bool upper) {
    Polynomial product = number(monomial.coefficient);
    int rounded = 0;
    for (const auto& [symbol, exponent] : monomial.powers) {
      for (int n = 0; n < exponent; ++n) {
        SCHAAS_ASSIGN_OR_RETURN(const Polynomial bound, of(symbol, upper, rounded));
        SCHAAS_ASSIGN_OR_RETURN(product, multiply(product, bound));
      }
    }
    // Lower bounds of extents may be negative, and do not bound a product of two.
    unknown_ = unknown_ || (!upper && rounded > 1);
    return product;
  }

  /// Bounds a symbol. `rounded` counts extents that were rounded up to whole blocks.
  Result<Polynomial> of(const Symbol& symbol, bool upper, int& rounded) {
    if (symbol.kind == Symbol::Kind::extent) return extent(symbol.name, upper, rounded);
    const auto blocks = blocking_.matrices.find(symbol.name);
    const auto& format = problem_.formats.at(symbol.name);
    if (blocks != blocking_.matrices.end() && symbol.levels == 2) {
      // A stored block holds at least one entry, and at most all of its elements.
      const Polynomial count = problem::symbol({Symbol::Kind::nonzeros, symbol.name, 2});
      if (!upper) return count;
      return multiply(number(std::int64_t{blocks->second.rows} * blocks->second.columns), count);
    }
    const auto indices = problem_.indices_of(symbol.name);
    const bool split = std::any_of(indices.begin(), indices.end(),
                                   [&](const auto& index) { return blocking_.indices.count(index) > 0; });
    if (!split) return problem::symbol(symbol);
    Polynomial product = number(1);  // levels that are dense
    for (int level = 0; level < symbol.levels; ++level) {
      const auto mode = static_cast<std::size_t>(format.mode_order[static_cast<std::size_t>(level)]);
      SCHAAS_ASSIGN_OR_RETURN(const Polynomial bound, extent(indices[mode], upper, rounded));
      SCHAAS_ASSIGN_OR_RETURN(product, multiply(product, bound));
    }
    return product;
  }

  /// size * blocks - (size - 1) <= extent <= size * blocks
  Result<Polynomial> extent(const std::string& index, bool upper, int& rounded) {
    const auto split = blocking_.indices.find(index);
    if (split == blocking_.indices.end()) return symbol({Symbol::Kind::extent, index, 0});
    ++rounded;
    const std::int64_t size = split->second.size;
    SCHAAS_ASSIGN_OR_RETURN(Polynomial all,
                            multiply(number(size), symbol({Symbol::Kind::extent, split->second.block, 0})));
    if (upper || size == 1) return all;
    return subtract(all, number(size - 1));
  }

  const Problem& problem_;
  const Blocking& blocking_;
  bool unknown_ = false;
};

/// Returns the extent of the indices inside a block.
std::vector<Constraint> fixed(const format::SplitIndex& split) {
  const std::vector<Monomial> size{{split.size, {}}};
  const std::vector<Monomial> extent{{1, {{Symbol{Symbol::Kind::extent, split.inside, 0}, 1}}}};
  return {{size, extent}, {extent, size}};
}

}  // namespace

std::vector<Reading> readings(const std::vector<Assignment>& statements) {
  std::vector<Reading> out;
  for (const Assignment& statement : statements) {
    out.push_back(reading_of(statement.result));
    for (const Access& access : index_notation::operands(statement.value)) out.push_back(reading_of(access));
  }
  return out;
}

Result<Problem> with_blocks(const Problem& problem, const Blocking& blocking) {
  if (blocking.empty()) return problem;
  Problem out = problem;
  out.statement = split(problem.statement, blocking);
  for (Assignment& statement : out.intermediates) statement = split(statement, blocking);
  for (auto& [tensor, format] : out.formats)
    format = blocking.of({tensor, problem.indices_of(tensor)}, problem.formats.at(tensor));
  std::vector<Constraint> constraints;
  Bounds bounds(problem, blocking);
  for (const Constraint& constraint : problem.constraints) {
    SCHAAS_ASSIGN_OR_RETURN(auto kept, bounds.of(constraint));
    if (kept) constraints.push_back(std::move(*kept));
  }
  for (const auto& [index, split_index] : blocking.indices) {
    for (Constraint& one : fixed(split_index)) constraints.push_back(std::move(one));
  }
  SCHAAS_ASSIGN_OR_RETURN(out.constraints, simplify(out.statements(), constraints));
  return out;
}

}  // namespace schaas::problem

#include "compiler/problem/constraint_set.h"

#include <algorithm>
#include <optional>

#include "compiler/index_notation/extent_classes.h"
#include "compiler/problem/polynomial.h"

// The constraints of a problem together. Equal extents are written on the first index of their class.
// Constraints of one shape then differ in their constant alone, and the strongest stays. To compare them, a
// constraint is taken apart into a shape and a constant: lhs <= rhs + constant. Implications between
// different shapes are not sought (docs/cache_key.md, "Left apart on purpose"): a miss costs time, a wrong
// hit correctness.
namespace schaas::problem {
namespace {

using support::Result;

using Names = std::map<std::string, std::string>;

const std::string& renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

// Removes and returns the constant a constraint adds to its right side: lhs <= rhs + constant.
std::int64_t take_constant(Constraint& constraint) {
  const auto take = [](std::vector<Monomial>& side) -> std::int64_t {
    const auto found =
        std::find_if(side.begin(), side.end(), [](const Monomial& term) { return term.powers.empty(); });
    if (found == side.end()) return 0;
    const std::int64_t value = found->coefficient;
    side.erase(found);
    return value;
  };
  return take(constraint.rhs) - take(constraint.lhs);  // at most one of them stands
}

// Adds a constant to the side where it is positive.
void put_constant(Constraint& constraint, std::int64_t constant) {
  if (constant == 0) return;
  auto& side = constant > 0 ? constraint.rhs : constraint.lhs;
  side.push_back({constant > 0 ? constant : -constant, {}});
  std::sort(side.begin(), side.end());
}

// Returns the symbol when the side is nothing else.
std::optional<Symbol> lone_symbol(const std::vector<Monomial>& side) {
  const bool lone = side.size() == 1 && side[0].coefficient == 1 && side[0].powers.size() == 1 &&
                    side[0].powers[0].second == 1;
  return lone ? std::optional(side[0].powers[0].first) : std::nullopt;
}

// Bounds of a symbol found so far, and the constraints that they come from.
struct Range {
  std::optional<std::size_t> min_from, max_from;
  std::int64_t least = 0, most = 0;
};

Monomial extent(const std::string& index) { return {1, {{Symbol{Symbol::Kind::extent, index, 0}, 1}}}; }

}  // namespace

Result<std::vector<Constraint>> rename(const Constraint& constraint, const Names& index_names,
                                       const Names& tensor_names) {
  // Symbols may meet under one name, so the terms are added anew.
  Polynomial difference;
  for (const auto& [powers, coefficient] : difference_of(constraint)) {
    Powers replaced;
    for (const auto& [symbol, exponent] : powers) {
      const bool extent = symbol.kind == Symbol::Kind::extent;
      const std::string& name = renamed(extent ? index_names : tensor_names, symbol.name);
      replaced[Symbol{symbol.kind, name, symbol.levels}] += exponent;
    }
    SCHAAS_ASSIGN_OR_RETURN(difference, add(difference, Polynomial{{replaced, coefficient}}));
  }
  SCHAAS_ASSIGN_OR_RETURN(auto normal, normal_form(difference, false));
  std::vector<Constraint> out;
  if (normal) out.push_back(std::move(*normal));
  return out;
}

Result<std::vector<Constraint>> simplify(const std::vector<index_notation::Assignment>& statements,
                                         const std::vector<Constraint>& constraints) {
  const Names classes = index_notation::extent_classes(statements);
  std::map<Constraint, std::int64_t> strongest;
  for (const auto& constraint : constraints) {
    SCHAAS_ASSIGN_OR_RETURN(auto renamed_constraint, rename(constraint, classes, {}));
    for (auto& shape : renamed_constraint) {
      const std::int64_t constant = take_constant(shape);
      const auto [entry, fresh] = strongest.emplace(shape, constant);
      // The lesser constant is the stronger constraint.
      if (!fresh) entry->second = std::min(entry->second, constant);
    }
  }
  std::vector<Constraint> out;
  for (const auto& [shape, constant] : strongest) {
    out.push_back(shape);
    put_constant(out.back(), constant);
  }
  for (const auto& [index, first] : classes) {
    if (index == first) continue;
    out.push_back({{extent(first)}, {extent(index)}});
    out.push_back({{extent(index)}, {extent(first)}});
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Contradiction> find_contradiction(const std::vector<Constraint>& constraints) {
  std::map<Symbol, Range> ranges;
  for (std::size_t n = 0; n < constraints.size(); ++n) {
    Constraint shape = constraints[n];
    const std::int64_t constant = take_constant(shape);
    // 0 <= x + constant bounds x from below, x <= constant from above.
    const auto low = shape.lhs.empty() ? lone_symbol(shape.rhs) : std::nullopt;
    const auto high = shape.rhs.empty() ? lone_symbol(shape.lhs) : std::nullopt;
    if (!low && !high) continue;
    const Symbol symbol = low ? *low : *high;
    Range& range = ranges[symbol];
    if (low && (!range.min_from || -constant > range.least)) {
      range.least = -constant;
      range.min_from = n;
    }
    if (high && (!range.max_from || constant < range.most)) {
      range.most = constant;
      range.max_from = n;
    }
    if (range.min_from && range.max_from && range.most < range.least) {
      const auto [first, second] = std::minmax(*range.min_from, *range.max_from);
      return {{first, second, symbol, range.least, range.most}};
    }
  }
  return {};
}

}  // namespace schaas::problem

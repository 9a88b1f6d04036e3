#include "compiler/problem/upper_bounds.h"

#include <optional>

// Bound propagation: passes carry upper bounds through constraints and formats until none gets smaller. Terms
// are never negative, so each term of a left side is at most the largest value of the right side. Arithmetic
// that leaves 64 bits yields "unbounded". Ending after a fixed number of passes leaves larger bounds, which
// are sound.
namespace schaas::problem {
namespace {

using format::LevelFormat;
using format::TensorFormat;
using Bound = std::optional<std::int64_t>;  // none: unbounded, also beyond 64 bits

Bound times(Bound a, Bound b) {
  if ((a && *a == 0) || (b && *b == 0)) return 0;
  std::int64_t out = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &out) ? Bound(out) : std::nullopt;
}
Bound plus(Bound a, Bound b) {
  std::int64_t out = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &out) ? Bound(out) : std::nullopt;
}

class Propagation {
 public:
  explicit Propagation(const Problem& problem) : problem_(problem) {}

  std::map<Symbol, std::int64_t> run() {
    // Each pass carries a bound at least one step further; a bounded number keeps chains like i <= j - 1, j
    // <= i short.
    constexpr int passes = 64;
    changed_ = true;
    for (int pass = 0; pass < passes && changed_; ++pass) {
      changed_ = false;
      for (const auto& constraint : problem_.constraints) carry(constraint);
      for (const auto& tensor : problem_.tensors()) carry(tensor, problem_.formats.at(tensor));
    }
    return std::move(bounds_);
  }

 private:
  Bound of(const Symbol& symbol) const {
    const auto found = bounds_.find(symbol);
    return found == bounds_.end() ? std::nullopt : Bound(found->second);
  }
  void lower(const Symbol& symbol, Bound bound) {
    if (!bound) return;
    const auto [entry, fresh] = bounds_.emplace(symbol, *bound);
    if (!fresh && entry->second <= *bound) return;
    entry->second = *bound;
    changed_ = true;
  }

  // Returns an upper bound of a sum; none when some symbol is unbounded.
  Bound largest(const std::vector<Monomial>& sum) const {
    Bound total = 0;
    for (const auto& term : sum) {
      Bound value = term.coefficient;
      for (const auto& [symbol, exponent] : term.powers) {
        for (int n = 0; n < exponent; ++n) value = times(value, of(symbol));
      }
      total = plus(total, value);
    }
    return total;
  }

  // In lhs <= rhs every term is at least 0, so each term of lhs is at most the largest rhs less lhs's
  // constant.
  void carry(const Constraint& constraint) {
    Bound most = largest(constraint.rhs);
    if (!most) return;
    for (const auto& term : constraint.lhs) {
      if (term.powers.empty()) most = *most - term.coefficient;
    }
    if (*most < 0) return;  // the constraints contradict each other: found elsewhere
    for (const auto& term : constraint.lhs) {
      if (term.powers.size() == 1 && term.powers[0].second == 1)
        lower(term.powers[0].first, *most / term.coefficient);
    }
  }

  // Carries bounds down the levels, by the coordinates there can be, and up, since stored coordinates lead to
  // values.
  void carry(const std::string& tensor, const TensorFormat& format) {
    const auto& indices = problem_.indices_of(tensor);
    const auto entries = [&tensor](int levels) { return Symbol{Symbol::Kind::nonzeros, tensor, levels}; };
    Bound distinct = 1;  // coordinates of the levels so far
    for (int levels = 1; levels <= format.order(); ++levels) {
      const auto level = static_cast<std::size_t>(levels - 1);
      const LevelFormat kind = format.levels[level];
      const Symbol extent{Symbol::Kind::extent, indices[static_cast<std::size_t>(format.mode_order[level])],
                          0};
      distinct = times(distinct, of(extent));
      if (format::is_singleton(kind)) lower(entries(levels), of(entries(levels - 1)));
      // Equal coordinates of a level that is not unique are told apart further below.
      if (!format::is_unique(kind)) continue;
      lower(entries(levels), distinct);
      distinct = of(entries(levels));
    }
    for (int levels = format.order() - 1; levels >= 1; --levels) {
      const auto level = static_cast<std::size_t>(levels - 1);
      if (format::holds_entries(format.levels[level])) lower(entries(levels), of(entries(levels + 1)));
    }
  }

  const Problem& problem_;
  std::map<Symbol, std::int64_t> bounds_;
  bool changed_ = false;
};

}  // namespace

std::map<Symbol, std::int64_t> upper_bounds(const Problem& problem) { return Propagation(problem).run(); }

int narrowest_position_bits(const Problem& problem) {
  // Positions and coordinates are signed.
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;
  const auto bounds = upper_bounds(problem);
  const auto fits = [&bounds](const Symbol& symbol, std::int64_t limit) {
    const auto found = bounds.find(symbol);
    return found != bounds.end() && found->second <= limit;
  };
  for (const auto& intermediate : problem.intermediates) {
    for (const auto& index : intermediate.result.indices) {
      if (!fits({Symbol::Kind::extent, index, 0}, most)) return 64;
    }
  }
  bool compressed = false;
  for (const auto& tensor : problem.tensors()) {
    const TensorFormat& format = problem.formats.at(tensor);
    if (format.all_dense()) continue;
    compressed = true;
    for (const auto& index : problem.indices_of(tensor)) {
      if (!fits({Symbol::Kind::extent, index, 0}, most)) return 64;
    }
    for (int levels = 1; levels <= format.order(); ++levels) {
      const auto held = format::coordinates(format.levels[static_cast<std::size_t>(levels - 1)]);
      const auto largest = held == format::Coordinates::slots ? most / format::max_slots_per_entry : most;
      if (!fits({Symbol::Kind::nonzeros, tensor, levels}, largest)) return 64;
    }
  }
  return compressed ? 32 : 64;
}

}  // namespace schaas::problem

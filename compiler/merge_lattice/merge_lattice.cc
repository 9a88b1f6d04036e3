#include "compiler/merge_lattice/merge_lattice.h"

#include <algorithm>
#include <cmath>

// Spaces of expressions, from the leaves up (papers: header). An argument that is a function's annihilator
// outside of its space confines the function to that space. Any other function must be evaluated where one
// argument must; elsewhere its value follows from the arguments' values there. Formulas are kept flat and
// without repetitions, so lowering compares them by ==.
namespace schaas::merge_lattice {
namespace {

using Kind = Formula::Kind;
using operators::Function;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Appends `part`, or the parts of a formula of the same kind, unless they are there already.
void append(const Formula& part, Kind kind, std::vector<Formula>& out) {
  if (part.kind == kind) {
    for (const auto& inner : part.parts) append(inner, kind, out);
  } else if (std::find(out.begin(), out.end(), part) == out.end()) {
    out.push_back(part);
  }
}

/// Drops idle parts by absorption: the second of B and (B or C), and of B or (B and C).
bool absorbed(const Formula& part, const std::vector<Formula>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Formula& other) {
    return std::find(part.parts.begin(), part.parts.end(), other) != part.parts.end();
  });
}

/// `neutral` parts vanish, one `absorbing` part decides.
Formula combined(const std::vector<Formula>& parts, Kind kind, Kind neutral, Kind absorbing) {
  std::vector<Formula> flat;
  for (const auto& part : parts) {
    if (part.kind == absorbing) return Formula{absorbing};
    if (part.kind != neutral) append(part, kind, flat);
  }
  std::vector<Formula> kept;
  std::copy_if(flat.begin(), flat.end(), std::back_inserter(kept),
               [&](const Formula& part) { return !absorbed(part, flat); });
  if (kept.empty()) return Formula{neutral};
  if (kept.size() == 1) return kept.front();
  Formula out{kind};
  out.parts = std::move(kept);
  return out;
}

void collect(const Formula& formula, std::vector<LevelAccess>& out) {
  if (formula.kind == Kind::level && std::find(out.begin(), out.end(), formula.level) == out.end())
    out.push_back(formula.level);
  for (const auto& part : formula.parts) collect(part, out);
}

/// A value that nothing is known of is needed everywhere, and so is one that is no number.
Space checked(Formula visited, std::optional<double> otherwise) {
  if (visited.kind == Kind::every || !otherwise || std::isnan(*otherwise)) return anywhere();
  return Space{std::move(visited), otherwise};
}

Formula any_visited(const std::vector<Space>& spaces) {
  std::vector<Formula> parts;
  for (const auto& space : spaces) parts.push_back(space.visited);
  return united(parts);
}

/// An argument with which the function has one value whatever the others are.
std::optional<double> annihilator(Function function) {
  switch (function) {
    case Function::multiply:
    case Function::logical_and:
      return 0;
    case Function::logical_or:
      return 1;
    case Function::minimum:
      return -infinity;
    case Function::maximum:
      return infinity;
    default:
      return std::nullopt;
  }
}

/// The space of an associative function whose `zero` annihilates; nothing when no argument falls back to it.
std::optional<Space> annihilated(const std::vector<Space>& arguments, double zero) {
  std::vector<Formula> deciding;
  for (const auto& argument : arguments) {
    if (argument.otherwise == zero) deciding.push_back(argument.visited);
  }
  if (deciding.empty()) return std::nullopt;
  return checked(intersection(deciding), zero);
}

Space any_function(Function function, const std::vector<Space>& arguments) {
  std::vector<double> values;
  for (const auto& argument : arguments) {
    if (!argument.otherwise) return anywhere();
    values.push_back(*argument.otherwise);
  }
  return checked(any_visited(arguments), operators::evaluate(function, values));
}

/// Returns the space of where(condition, then, otherwise): outside of the condition's space one branch is
/// constant.
Space choice(const std::vector<Space>& arguments) {
  const Space& condition = arguments[0];
  if (!condition.otherwise) {
    // Both branches may be chosen anywhere; where neither is visited and they agree, so does the result.
    if (arguments[1].otherwise && arguments[1].otherwise == arguments[2].otherwise)
      return checked(united({arguments[1].visited, arguments[2].visited}), arguments[1].otherwise);
    return anywhere();
  }
  const bool first = *condition.otherwise != 0;
  const Space& usual = first ? arguments[1] : arguments[2];
  const Space& other = first ? arguments[2] : arguments[1];
  if (!usual.otherwise) return anywhere();
  if (usual.otherwise == other.otherwise)
    return checked(united({usual.visited, intersection({condition.visited, other.visited})}),
                   usual.otherwise);
  return checked(united({usual.visited, condition.visited}), usual.otherwise);
}

}  // namespace

Formula none() { return Formula{}; }
Formula every() { return Formula{Kind::every}; }
Formula held(LevelAccess level) { return Formula{Kind::level, level, {}}; }

Formula intersection(const std::vector<Formula>& parts) {
  return combined(parts, Kind::intersection, Kind::every, Kind::none);
}
Formula united(const std::vector<Formula>& parts) {
  return combined(parts, Kind::united, Kind::none, Kind::every);
}

std::vector<LevelAccess> levels_of(const Formula& formula) {
  std::vector<LevelAccess> out;
  collect(formula, out);
  return out;
}

Space literal(double value) { return checked(none(), value); }
Space anywhere() { return Space{every(), std::nullopt}; }
Space stored(LevelAccess level, double fill) { return checked(held(level), fill); }

Space product(const std::vector<Space>& factors, const operators::Semiring& semiring) {
  if (auto space = annihilated(factors, semiring.zero)) return *space;
  return any_function(semiring.product, factors);
}

Space apply(Function function, const std::vector<Space>& arguments) {
  if (function == Function::where) return choice(arguments);
  // An unstored dividend gives 0; the divisor matters only where the dividend is stored.
  if (function == Function::divide && arguments[0].otherwise == 0.0) return arguments[0];
  if (const auto zero = annihilator(function)) {
    if (auto space = annihilated(arguments, *zero)) return *space;
  }
  return any_function(function, arguments);
}

Formula contributing(const Space& space, double start) {
  return space.otherwise == start ? space.visited : every();
}

}  // namespace schaas::merge_lattice

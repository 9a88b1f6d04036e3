#include "compiler/cost/iteration_space.h"

#include <algorithm>

#include "compiler/concrete_notation/match.h"
#include "compiler/support/contains.h"

// Abstract interpretation of expressions: the value where operands store nothing, and the points that may
// differ from it (Kjolstad et al., OOPSLA 2017, section 5; ReACT, section 4.2). A space is a union of
// intersections of operands, without sets that contain another one. Intersecting two unions multiplies their
// sizes. Beyond `max_members` sets a space becomes everywhere, which has more points than needed and never
// fewer.
namespace schaas::cost {
namespace {

using concrete_notation::match;
using index_notation::Call;
using index_notation::Expression;
using index_notation::Literal;
using index_notation::Product;
using index_notation::Reduction;
using operators::Function;

constexpr std::size_t max_members = 16;

/// Smallest sets only.
IterationSpace simplified(IterationSpace space) {
  std::sort(space.begin(), space.end());
  space.erase(std::unique(space.begin(), space.end()), space.end());
  IterationSpace out;
  for (OperandSet set : space) {
    const bool contains_another = std::any_of(
        space.begin(), space.end(), [&](OperandSet other) { return other != set && (other & set) == other; });
    if (!contains_another) out.push_back(set);
  }
  return out.size() > max_members ? everywhere : out;
}

/// An expression: what it is where no operand stores anything, and where it may differ from that.
struct Support {
  std::optional<double> background;  ///< none: not one value
  IterationSpace space;
  bool same = false;  ///< not one value, but it does not change along the index
  bool known() const { return background || same; }
};
const Support unknown{std::nullopt, everywhere};

/// A value that no coordinate of the index changes.
Support unchanged(IterationSpace space) { return {std::nullopt, std::move(space), true}; }

/// Evaluates an expression from its leaves up.
class Analysis {
 public:
  /// `along`: an index whose coordinates alone count; empty: all indices.
  Analysis(const Operands& operands, const KnownTemporaries& temporaries, std::string along = "")
      : operands_(operands),
        temporaries_(temporaries),
        semiring_(*operands.problem().semiring),
        along_(std::move(along)) {}

  Support of(const Expression& expression) const {
    return match(
        expression.node, [&](const index_notation::Access& access) { return of_access(access); },
        [&](const Product& product) { return of_product(product.factors); },
        [&](const Literal& literal) {
          return Support{literal.value, {}};
        },
        [&](const Call& call) { return of_call(call); }, [&](const Reduction&) { return unknown; },
        [&](const index_notation::Coordinate& coordinate) {
          return along_.empty() || coordinate.index == along_ ? unknown : unchanged({});
        });
  }

 private:
  /// Returns the support of an element. Temporaries of unknown producers may hold anything anywhere.
  Support of_access(const index_notation::Access& access) const {
    if (!along_.empty() && !support::contains(access.indices, along_)) return unchanged({});
    if (const auto number = operands_.number(access)) return {semiring_.zero, {OperandSet{1} << *number}};
    const auto known = temporaries_.find(access.tensor);
    return known == temporaries_.end() ? unknown : Support{semiring_.zero, known->second};
  }

  /// Returns the support of a product. Each factor that annihilates elsewhere restricts it to its own points;
  /// without such a factor it differs where any factor does.
  Support of_product(const std::vector<Expression>& factors) const {
    IterationSpace common = everywhere, any;
    bool annihilated = false, constant = true, known = true;
    double background = semiring_.one;
    for (const Expression& factor : factors) {
      const Support part = of(factor);
      constant = constant && part.background.has_value();
      known = known && part.known();
      if (part.background == semiring_.zero) {
        annihilated = true;
        common = intersect(common, part.space);
      }
      if (part.background)
        background = operators::evaluate(semiring_.product, {background, *part.background});
      any = unite(any, part.space);
    }
    if (annihilated) return {semiring_.zero, common};
    if (!known) return unknown;
    return constant ? Support{background, any} : unchanged(any);
  }

  /// Returns the support of where(condition, then, otherwise): beside the condition's space one branch is
  /// chosen for good.
  Support of_choice(const Call& call) const {
    const Support condition = of(call.arguments[0]);
    const bool first = condition.background.value_or(0) != 0;
    const Support usual = of(call.arguments[first ? 1 : 2]), other = of(call.arguments[first ? 2 : 1]);
    if (!usual.known()) return unknown;
    if (usual.background && usual.background == other.background) {
      const IterationSpace chosen =
          condition.background ? intersect(condition.space, other.space) : other.space;
      return {usual.background, unite(usual.space, chosen)};
    }
    if (condition.background) return {usual.background, unite(usual.space, condition.space), usual.same};
    if (!condition.same || !other.known()) return unknown;
    return unchanged(unite(condition.space, unite(usual.space, other.space)));
  }

  /// Returns the support of a function of parts: one value where all parts have one.
  Support of_call(const Call& call) const {
    if (call.function == Function::where) return of_choice(call);
    std::vector<double> backgrounds;
    IterationSpace any;
    for (const Expression& argument : call.arguments) {
      const Support part = of(argument);
      // A dividend that is not stored makes the quotient zero, whatever it is divided by.
      if (backgrounds.empty() && call.function == Function::divide && part.background == 0.0)
        return {0.0, part.space};
      if (!part.known()) return unknown;
      if (part.background) backgrounds.push_back(*part.background);
      any = unite(any, part.space);
    }
    if (backgrounds.size() < call.arguments.size()) return unchanged(any);
    // Under a semiring `+` is its sum.
    const bool semiring_sum = call.function == Function::add;
    return {
        operators::evaluate(semiring_sum ? operators::combine(semiring_.sum) : call.function, backgrounds),
        any};
  }

  const Operands& operands_;
  const KnownTemporaries& temporaries_;
  const operators::Semiring& semiring_;
  std::string along_;
};

}  // namespace

std::optional<StoredSpace> stored_space(const Expression& value, const std::string& index,
                                        const Operands& operands) {
  const Support support = Analysis(operands, {}, index).of(value);
  if (!support.known()) return std::nullopt;
  return StoredSpace{support.background, support.space};
}

IterationSpace unite(const IterationSpace& a, const IterationSpace& b) {
  IterationSpace all = a;
  all.insert(all.end(), b.begin(), b.end());
  return simplified(std::move(all));
}

IterationSpace intersect(const IterationSpace& a, const IterationSpace& b) {
  IterationSpace all;
  for (OperandSet ours : a) {
    for (OperandSet theirs : b) all.push_back(ours | theirs);
  }
  return simplified(std::move(all));
}

Operands::Operands(const problem::Problem& problem) : problem_(problem) {
  for (const index_notation::Access& access : problem.reads()) {
    if (problem.pattern_named(access.tensor) != nullptr) continue;
    if (problem.formats.at(access.tensor).all_dense() || number(access)) continue;
    // Operands beyond the bits of an OperandSet have no number: they are needed everywhere.
    if (sparse_.size() < 64) sparse_.push_back(access);
  }
}

std::optional<int> Operands::number(const index_notation::Access& access) const {
  const problem::Pattern* pattern = problem_.pattern_named(access.tensor);
  const auto found = std::find_if(sparse_.begin(), sparse_.end(), [&](const index_notation::Access& known) {
    return known.indices == access.indices &&
           known.tensor == (pattern == nullptr ? access.tensor : pattern->tensor);
  });
  if (found == sparse_.end()) return std::nullopt;
  return static_cast<int>(found - sparse_.begin());
}

IterationSpace iteration_space(const Expression& value, operators::Monoid monoid, const Operands& operands,
                               const KnownTemporaries& temporaries) {
  const Support support = Analysis(operands, temporaries).of(value);
  const operators::Semiring& semiring = *operands.problem().semiring;
  const double ignored = monoid == semiring.sum ? semiring.zero : operators::identity(monoid);
  return support.background == ignored ? support.space : everywhere;
}

}  // namespace schaas::cost

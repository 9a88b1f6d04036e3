#include "compiler/schedule/replay/with_factors.h"

#include <algorithm>
#include <utility>

#include "compiler/concrete_notation/match.h"

// Puts the factors of a product back into a tree of the contraction of its elements. A function stands for
// its element, so it enters the assignment that reads the element. The number may enter any one assignment,
// since all of them are linear in it. The first in execution order that reads the first operand is chosen,
// whatever the tree: equal trees stay equal.
namespace schaas::schedule {
namespace {

using concrete_notation::Assign;
using concrete_notation::Blocks;
using concrete_notation::Forall;
using concrete_notation::StatementPtr;
using concrete_notation::Terms;
using concrete_notation::Where;

class Substitution {
 public:
  explicit Substitution(const problem::Factors& factors)
      : factors_(factors), scaled_(factors.contraction.operands().front()), scale_(factors.scale) {}

  StatementPtr of(const StatementPtr& tree) {
    return concrete_notation::match(
        tree->node, [&](const Forall& loop) { return concrete_notation::with_body(loop, of(loop.body)); },
        [&](const Blocks& blocks) { return concrete_notation::with_body(blocks, of(blocks.body)); },
        [&](const Where& branch) {
          // Producers run first, so they are visited first and get the number where they can.
          StatementPtr producer = of(branch.producer);
          return concrete_notation::where(of(branch.consumer), std::move(producer), branch.storage);
        },
        [&](const Terms& sum) {
          std::vector<StatementPtr> each;
          for (const StatementPtr& term : sum.terms) each.push_back(of(term));
          return concrete_notation::terms(std::move(each));
        },
        [&](const Assign& leaf) { return of_leaf(leaf); });
  }

 private:
  StatementPtr of_leaf(const Assign& leaf) {
    const auto elements = index_notation::operands(leaf.value);
    const bool scaled = std::find(elements.begin(), elements.end(), scaled_) != elements.end();
    const auto number = scaled ? std::exchange(scale_, std::nullopt) : std::nullopt;
    return concrete_notation::assign(leaf.target, factors_.product(elements, number), leaf.monoid);
  }

  const problem::Factors& factors_;
  const index_notation::Access scaled_;
  std::optional<double> scale_;  ///< nothing once it is placed
};

}  // namespace

StatementPtr with_factors(const StatementPtr& tree, const problem::Factors& factors) {
  return Substitution(factors).of(tree);
}

}  // namespace schaas::schedule

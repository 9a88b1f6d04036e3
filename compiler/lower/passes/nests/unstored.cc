#include "compiler/lower/passes/nests/unstored.h"

#include <algorithm>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/unstored_value.h"

// Marks leaves whose loop may walk stored coordinates alone and fold the value of all others at once
// (header). The value elsewhere differs from the start value and does not change along the loop, and the
// monoid folds many of it without a loop. Each level must be a list that holds a coordinate once, so that
// the visits are as many as the stored coordinates.
namespace schaas::lower {
namespace {

using loop_ir::Match;

class Marking {
 public:
  explicit Marking(const NestTree& tree) : tree_(tree) {}

  /// `inside`: of a loop that runs over single values.
  NestPtr of(const NestPtr& nest, bool inside) {
    return std::visit(Match{
                          [&](const Loop& loop) {
                            const bool plain = is_plain(loop);
                            const NestPtr body = of(loop.body, plain);
                            if (!inside || !plain || !counts_all(body) || !may_count(body, loop))
                              return with_body(loop, body);
                            applied_ = true;
                            return with_body(loop, counting(body, loop.index));
                          },
                          [&](const Blocks& blocks) { return with_body(blocks, of(blocks.body, false)); },
                          [&](const Branch& branch) {
                            return make_nest({Branch{branch.temporary, of(branch.producer, inside),
                                                     of(branch.consumer, inside)}});
                          },
                          [&](const Terms&) { return nest; },
                          [&](const Leaf&) { return nest; },
                      },
                      nest->node);
  }

  bool applied() const { return applied_; }

 private:
  static bool is_plain(const Loop& loop) {
    return !loop.block && !loop.value && !loop.entries && !loop.vector && !loop.annotation.collapsed &&
           !loop.annotation.mapping && loop.annotation.positions == 0 && loop.annotation.unroll == 1;
  }

  /// The nest is a leaf, or a chain all of whose loops are counted.
  static bool counts_all(const NestPtr& nest) {
    const auto* loop = std::get_if<Loop>(&nest->node);
    return loop != nullptr ? counts_unstored(*loop) && counts_all(loop->body)
                           : std::holds_alternative<Leaf>(nest->node);
  }

  /// Returns the chain with a leaf that counts one more index.
  static NestPtr counting(const NestPtr& nest, int index) {
    if (const auto* loop = std::get_if<Loop>(&nest->node))
      return with_body(*loop, counting(loop->body, index));
    Leaf leaf = std::get<Leaf>(nest->node);
    leaf.counted.insert(leaf.counted.begin(), index);
    return make_nest({std::move(leaf)});
  }

  /// Around loops that are counted, the value elsewhere is a number: nothing is read inside of them.
  bool may_count(const NestPtr& body, const Loop& loop) const {
    const Leaf& leaf = *leaf_of_chain(body);
    if (!leaf.counted.empty()) {
      const auto elsewhere = leaf.value ? unstored_value(leaf, loop.index, tree_) : std::nullopt;
      if (!elsewhere || !number_of(elsewhere->value) || elsewhere->visited == merge_lattice::none())
        return false;
    }
    return may_count(leaf, loop);
  }

  bool may_count(const Leaf& leaf, const Loop& loop) const {
    const Operand& target = tree_.operands[static_cast<std::size_t>(leaf.target)];
    const Tensor& written = tree_.tensors[static_cast<std::size_t>(target.tensor)];
    if (written.occupancy_levels > 0 || level_of(target, loop.index) >= 0) return false;
    const auto elsewhere = unstored_value(leaf, loop.index, tree_);
    if (!elsewhere) return false;
    const auto number = number_of(elsewhere->value);
    if (number == written.fill) return false;
    if (operators::folding_of_equal_values(leaf.monoid, number) == operators::EqualValues::one_by_one)
      return false;
    const auto levels = merge_lattice::levels_of(elsewhere->visited);
    return std::all_of(levels.begin(), levels.end(), [&](const auto& level) {
      const Operand& operand = tree_.operands[static_cast<std::size_t>(level.operand)];
      const auto format = tree_.tensors[static_cast<std::size_t>(operand.tensor)]
                              .levels[static_cast<std::size_t>(level.level)];
      return operand.located_by < 0 && !format::is_located(format) && format::is_unique(format);
    });
  }

  const NestTree& tree_;
  bool applied_ = false;
};

}  // namespace

bool count_unstored(NestTree& tree) {
  Marking marking(tree);
  tree.root = marking.of(tree.root, false);
  return marking.applied();
}

}  // namespace schaas::lower

#include "compiler/lower/lanes.h"

#include <algorithm>
#include <set>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/iteration_space.h"

namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::Match;

class LaneMover {
 public:
  explicit LaneMover(NestTree& tree) : tree_(tree) {}

  /// Phases are split at the root's branches; the outermost loop of each stays where it is.
  NestPtr at_root(const NestPtr& nest) {
    return std::visit(
        Match{
            [&](const Branch& branch) {
              return make_nest(
                  {Branch{branch.temporary, at_root(branch.producer), at_root(branch.consumer)}});
            },
            [&](const Loop& loop) {
              if (const auto* second = collapsed_with(loop))
                return with_body(loop, with_body(*second, inside(second->body, {loop.index, second->index})));
              return with_body(loop, inside(loop.body, {loop.index}));
            },
            [&](const Blocks& blocks) {
              note(blocks);
              return with_body(blocks, inside(blocks.body, {}));
            },
            [&](const Terms& sum) {
              return of_each(sum, [&](const NestPtr& term) { return at_root(term); });
            },
            [&](const Leaf&) { return nest; },
        },
        nest->node);
  }

 private:
  NestPtr inside(const NestPtr& nest, std::set<int> bound) {
    const int index = lane_index(nest, bound);
    if (index >= 0 && movable(nest, index)) {
      make_scalars(nest);
      return make_nest({Loop{index, without(nest, index), true, in_block(nest, index), {}}});
    }
    return std::visit(Match{
                          [&](const Branch& branch) {
                            return make_nest({Branch{branch.temporary, inside(branch.producer, bound),
                                                     inside(branch.consumer, bound)}});
                          },
                          [&](const Loop& loop) {
                            auto more = bound;
                            more.insert(loop.index);
                            return with_body(loop, inside(loop.body, more));
                          },
                          [&](const Blocks& blocks) {
                            note(blocks);
                            return with_body(blocks, inside(blocks.body, bound));
                          },
                          [&](const Terms& sum) {
                            return of_each(sum, [&](const NestPtr& term) { return inside(term, bound); });
                          },
                          [&](const Leaf&) { return nest; },
                      },
                      nest->node);
  }

  /// The values of a block of entries are no neighbours.
  bool may_move(const Loop& loop) const {
    return loop.manner.unroll == 1 && (!loop.block || entries_.count(loop.index) == 0);
  }
  void note(const Blocks& blocks) {
    if (loop_space(blocks.body, blocks.index, tree_).kind != LoopSpace::Kind::range)
      entries_.insert(blocks.index);
  }

  static const Loop* collapsed_with(const Loop& loop) {
    return loop.manner.collapsed ? std::get_if<Loop>(&loop.body->node) : nullptr;
  }

  /// The loops over the index run over the values of a block that is open around the nest.
  static bool in_block(const NestPtr& nest, int index) {
    return std::visit(
        Match{
            [&](const Branch& branch) { return in_block(branch.consumer, index); },
            [&](const Loop& loop) { return loop.index == index ? loop.block : in_block(loop.body, index); },
            [&](const Blocks& blocks) { return in_block(blocks.body, index); },
            [&](const Terms& sum) { return in_block(sum.terms.front(), index); },
            [](const Leaf&) { return false; },
        },
        nest->node);
  }

  template <class Change>
  static NestPtr of_each(const Terms& sum, const Change& change) {
    Terms changed;
    for (const auto& term : sum.terms) changed.terms.push_back(change(term));
    return make_nest({std::move(changed)});
  }

  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }
  const Tensor& tensor_of(int number) const {
    return tree_.tensors[static_cast<std::size_t>(operand(number).tensor)];
  }

  /// The only index of the target that `nest` binds itself, or -1.
  int lane_index(const NestPtr& nest, const std::set<int>& bound) const {
    int found = -1;
    for (const int index : operand(target_of(nest)).indices) {
      if (bound.count(index) > 0) continue;
      if (found >= 0) return -1;
      found = index;
    }
    return found;
  }

  bool movable(const NestPtr& nest, int index) const {
    if (!has_more_than(nest, index)) return false;
    for (const int number : operands_below(nest, tree_)) {
      const int level = level_of(operand(number), index);
      if (level < 0) continue;
      if (tensor_of(number).tracked > 0) return false;
      const auto& levels = tensor_of(number).levels;
      if (level + 1 != static_cast<int>(levels.size()) || levels.back() != LevelFormat::dense) return false;
    }
    return every_leaf_under(nest, index, false);
  }

  /// A reduction or a branch: without one there is nothing to keep in registers.
  bool has_more_than(const NestPtr& nest, int index) const {
    return std::visit(
        Match{
            [&](const Branch&) { return true; },
            [&](const Loop& loop) { return loop.index != index || has_more_than(loop.body, index); },
            [&](const Blocks&) { return true; },
            [&](const Terms&) { return true; },
            [&](const Leaf&) { return false; },
        },
        nest->node);
  }

  bool every_leaf_under(const NestPtr& nest, int index, bool seen) const {
    return std::visit(Match{
                          [&](const Branch& branch) {
                            for (const int kept : operand(target_of(branch.producer)).indices) {
                              if (kept != index) return false;
                            }
                            return tree_.tensors[static_cast<std::size_t>(branch.temporary)].tracked == 0 &&
                                   every_leaf_under(branch.producer, index, seen) &&
                                   every_leaf_under(branch.consumer, index, seen);
                          },
                          [&](const Loop& loop) {
                            return (loop.index != index || may_move(loop)) && !merges(loop) &&
                                   every_leaf_under(loop.body, index, seen || loop.index == index);
                          },
                          [&](const Blocks& blocks) {
                            return blocks.index != index && every_leaf_under(blocks.body, index, seen);
                          },
                          [&](const Terms& sum) {
                            return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const NestPtr& term) {
                              return every_leaf_under(term, index, seen);
                            });
                          },
                          [&](const Leaf& leaf) { return seen && in_lanes(leaf); },
                      },
                      nest->node);
  }

  /// Sums of plain products, nothing tracked.
  bool in_lanes(const Leaf& leaf) const {
    return is_plain_product(leaf) && leaf.monoid == operators::Monoid::sum &&
           tree_.semiring->product == operators::Function::multiply && tensor_of(leaf.target).tracked == 0;
  }

  /// Lists go side by side; stretches of equal coordinates do as well.
  bool merges(const Loop& loop) const {
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    using Kind = LoopSpace::Kind;
    if (space.kind != Kind::walk) return space.kind == Kind::intersection || space.kind == Kind::merge;
    const auto& walked = space.cursors.front();
    return !format::is_unique(tensor_of(walked.operand).levels[static_cast<std::size_t>(walked.level)]);
  }

  static NestPtr without(const NestPtr& nest, int index) {
    return std::visit(
        Match{
            [&](const Branch& branch) {
              return make_nest({Branch{branch.temporary, without(branch.producer, index),
                                       without(branch.consumer, index)}});
            },
            [&](const Loop& loop) {
              const auto body = without(loop.body, index);
              return loop.index == index ? body : with_body(loop, body);
            },
            [&](const Terms& sum) {
              return of_each(sum, [&](const NestPtr& term) { return without(term, index); });
            },
            [&](const Blocks& blocks) { return with_body(blocks, without(blocks.body, index)); },
            [&](const Leaf&) { return nest; },
        },
        nest->node);
  }

  /// A temporary passed inside the moved loop holds one value per iteration of it: its only index goes.
  void make_scalars(const NestPtr& nest) {
    if (const auto* loop = std::get_if<Loop>(&nest->node)) return make_scalars(loop->body);
    if (const auto* blocks = std::get_if<Blocks>(&nest->node)) return make_scalars(blocks->body);
    if (const auto* sum = std::get_if<Terms>(&nest->node)) {
      for (const auto& term : sum->terms) make_scalars(term);
      return;
    }
    const auto* branch = std::get_if<Branch>(&nest->node);
    if (!branch) return;
    tree_.tensors[static_cast<std::size_t>(branch->temporary)].levels.clear();
    for (auto& use : tree_.operands) {
      if (use.tensor == branch->temporary) use.indices.clear();
    }
    make_scalars(branch->producer);
    make_scalars(branch->consumer);
  }

  NestTree& tree_;
  std::set<int> entries_;  ///< indices with blocks of the entries of something sparse
};

}  // namespace

void move_lanes_outwards(NestTree& tree) { tree.root = LaneMover(tree).at_root(tree.root); }

}  // namespace schaas::lower

#include "compiler/lower/passes/nests/register_blocking.h"

#include <algorithm>
#include <set>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Interchanges loops so that a row of the target stays in vector registers. The loop over the only index of
// the target that a statement binds itself moves out of the statement and becomes a vector loop. This is
// legal when every leaf lies under a loop over the index and all operands have it as their last, dense
// level. Lanes then never exchange values. Temporaries passed inside lose the index and become scalars.
// Merges stay: a vector loop contains none. The pass runs before emission, so that no other has to know
// which temporaries are scalars.
namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::Match;

class RegisterBlocker {
 public:
  explicit RegisterBlocker(NestTree& tree) : tree_(tree) {}

  /// Starts below the root's branches, which split phases; the outermost loop of each phase stays.
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
              if (runs_in_lanes(nest, loop)) {
                Loop lanes = loop;
                lanes.vector = applied_ = true;
                return make_nest({std::move(lanes)});
              }
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

  bool applied() const { return applied_; }

 private:
  NestPtr inside(const NestPtr& nest, std::set<int> bound) {
    const int index = vector_index(nest, bound);
    if (index >= 0 && movable(nest, index)) {
      make_scalars(nest);
      applied_ = true;
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

  /// Values of a block of entries are not contiguous.
  bool may_move(const Loop& loop) const {
    return loop.annotation.unroll == 1 && (!loop.block || entries_.count(loop.index) == 0);
  }
  void note(const Blocks& blocks) {
    if (loop_space(blocks.body, blocks.index, tree_).kind != LoopSpace::Kind::range)
      entries_.insert(blocks.index);
  }

  /// Returns the second of two collapsed loops, or null: both are the outermost loop of the phase.
  static const Loop* collapsed_with(const Loop& loop) {
    return loop.annotation.collapsed ? std::get_if<Loop>(&loop.body->node) : nullptr;
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

  /// Returns the only index of the target that `nest` binds itself, or -1.
  int vector_index(const NestPtr& nest, const std::set<int>& bound) const {
    int found = -1;
    for (const int index : operand(target_of(nest)).indices) {
      if (bound.count(index) > 0) continue;
      if (found >= 0) return -1;
      found = index;
    }
    return found;
  }

  /// The statement sums, all its operands advance along the index by single elements, and its leaves run in
  /// lanes.
  bool movable(const NestPtr& nest, int index) const {
    if (!has_more_than(nest, index)) return false;
    std::vector<int> moved;
    if (!add_following(nest, index, moved)) return false;
    moved.push_back(index);
    for (const int number : operands_below(nest, tree_)) {
      for (const int each : moved) {
        const int level = level_of(operand(number), each);
        if (level < 0) continue;
        if (tensor_of(number).occupancy_levels > 0) return false;
        const auto& levels = tensor_of(number).levels;
        if (level + 1 != static_cast<int>(levels.size()) || levels.back() != LevelFormat::dense) return false;
      }
    }
    return every_leaf_under(nest, index, false);
  }

  /// The loop over the target's only index is the outermost one already, and windows below follow it.
  bool runs_in_lanes(const NestPtr& nest, const Loop& loop) const {
    std::vector<int> following;
    return is_chain(nest) && may_move(loop) && loop.annotation == concrete_notation::LoopAnnotation{} &&
           operand(target_of(nest)).indices == std::vector<int>{loop.index} &&
           add_following(loop.body, loop.index, following) && !following.empty() && movable(nest, loop.index);
  }

  /// Adds the indices of loops with one value that follow the index. Returns false when one follows by other
  /// steps than single elements, or follows one of these, or when the index has one value itself.
  static bool add_following(const NestPtr& nest, int index, std::vector<int>& out) {
    const auto below = [&](const NestPtr& part) { return add_following(part, index, out); };
    return std::visit(
        Match{
            [&](const Branch& branch) { return below(branch.producer) && below(branch.consumer); },
            [&](const Loop& loop) {
              if (!loop.value) return below(loop.body);
              if (loop.index == index) return false;
              const auto follows = [&](int other) { return loop.value->factors.count(other) > 0; };
              if (std::any_of(out.begin(), out.end(), follows)) return false;
              const auto factor = loop.value->factors.find(index);
              if (factor == loop.value->factors.end()) return below(loop.body);
              out.push_back(loop.index);
              return factor->second == 1 && below(loop.body);
            },
            [&](const Blocks& blocks) { return below(blocks.body); },
            [&](const Terms& sum) { return std::all_of(sum.terms.begin(), sum.terms.end(), below); },
            [](const Leaf&) { return true; },
        },
        nest->node);
  }

  /// The nest has a reduction or a branch: without one no accumulator would stay in registers.
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

  /// Each leaf is inside a loop over the index that may move, and temporaries on the way have no other
  /// index.
  bool every_leaf_under(const NestPtr& nest, int index, bool seen) const {
    return std::visit(
        Match{
            [&](const Branch& branch) {
              for (const int kept : operand(target_of(branch.producer)).indices) {
                if (kept != index) return false;
              }
              return tree_.tensors[static_cast<std::size_t>(branch.temporary)].occupancy_levels == 0 &&
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
              return std::all_of(sum.terms.begin(), sum.terms.end(),
                                 [&](const NestPtr& term) { return every_leaf_under(term, index, seen); });
            },
            [&](const Leaf& leaf) { return seen && is_vectorisable(leaf); },
        },
        nest->node);
  }

  /// The leaf sums plain products, without occupancy.
  bool is_vectorisable(const Leaf& leaf) const {
    return is_plain_product(leaf) && leaf.monoid == operators::Monoid::sum &&
           tree_.semiring->product == operators::Function::multiply &&
           tensor_of(leaf.target).occupancy_levels == 0;
  }

  /// The loop merges several lists, or ranges of equal coordinates.
  bool merges(const Loop& loop) const {
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    using Kind = LoopSpace::Kind;
    if (space.kind != Kind::walk) return space.kind == Kind::intersection || space.kind == Kind::merge;
    const auto& walked = space.cursors.front();
    return !format::is_unique(tensor_of(walked.operand).levels[static_cast<std::size_t>(walked.level)]);
  }

  /// Removes the loops over the index.
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

  /// Removes the only index of temporaries passed inside the moved loop: they hold one value per iteration.
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
  std::set<int> entries_;  ///< indices with blocks of sparse entries
  bool applied_ = false;
};

}  // namespace

bool block_registers(NestTree& tree) {
  RegisterBlocker blocker(tree);
  tree.root = blocker.at_root(tree.root);
  return blocker.applied();
}

}  // namespace schaas::lower

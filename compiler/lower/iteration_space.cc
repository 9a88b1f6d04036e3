#include "compiler/lower/iteration_space.h"

#include <algorithm>

#include "compiler/loop_ir/nodes.h"

namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::Match;
using merge_lattice::Formula;
using merge_lattice::LevelAccess;
using merge_lattice::Space;

class SpaceOf {
 public:
  SpaceOf(int index, const NestTree& tree) : index_(index), tree_(tree) {}

  Formula nest(const NestPtr& nest_here) {
    return std::visit(
        Match{
            [&](const Loop& loop) { return nest(loop.body); },
            [&](const Blocks& blocks) { return nest(blocks.body); },
            [&](const Branch& branch) {
              passed_[branch.temporary] = Space{nest(branch.producer), tensor(branch.temporary).fill};
              return nest(branch.consumer);
            },
            [&](const Terms& sum) {
              std::vector<Formula> all;
              for (const auto& term : sum.terms) all.push_back(nest(term));
              return merge_lattice::united(all);
            },
            [&](const Leaf& leaf) { return leaf_formula(leaf); },
        },
        nest_here->node);
  }

 private:
  const Tensor& tensor(int number) const { return tree_.tensors[static_cast<std::size_t>(number)]; }
  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }

  Formula leaf_formula(const Leaf& leaf) {
    const double start = tensor(operand(leaf.target).tensor).fill;
    if (leaf.value) return merge_lattice::contributing(value(leaf.value), start);
    std::vector<Space> factors;
    for (const int factor : leaf.factors) factors.push_back(read(factor));
    const Space space =
        factors.size() == 1 ? factors.front() : merge_lattice::product(factors, *tree_.semiring);
    return merge_lattice::contributing(space, start);
  }

  Space read(int number) {
    const Operand& access = operand(number);
    if (const auto found = passed_.find(access.tensor); found != passed_.end()) {
      const Space& space = found->second;
      return space.visited.kind == Formula::Kind::every ? merge_lattice::anywhere() : space;
    }
    const int level = level_of(access, index_);
    const Tensor& known = tensor(access.tensor);
    if (level < 0 || !format::is_sparse(known.levels[static_cast<std::size_t>(level)]))
      return merge_lattice::anywhere();
    return merge_lattice::stored(LevelAccess{access.pattern ? access.place : number, level}, known.fill);
  }

  Space value(const ValuePtr& here) {
    const auto all = [&](const std::vector<ValuePtr>& parts) {
      std::vector<Space> spaces;
      for (const auto& part : parts) spaces.push_back(value(part));
      return spaces;
    };
    return std::visit(
        Match{
            [&](const Read& leaf) { return read(leaf.operand); },
            [&](const Constant& constant) { return merge_lattice::literal(constant.value); },
            [&](const Multiplied& product) {
              return merge_lattice::product(all(product.factors), *tree_.semiring);
            },
            [&](const Called& call) { return merge_lattice::apply(call.function, all(call.arguments)); },
        },
        here->node);
  }

  int index_;
  const NestTree& tree_;
  std::map<int, Space> passed_;  ///< temporaries of the branches below
};

/// Levels below the loop that hold only some coordinates of the index, by operand.
std::vector<LevelAccess> sparse_levels(const NestPtr& body, int index, const NestTree& tree) {
  std::vector<LevelAccess> out;
  for (const int number : factors_below(body, tree)) {
    const auto& operand = tree.operands[static_cast<std::size_t>(number)];
    const int level = level_of(operand, index);
    const auto& levels = tree.tensors[static_cast<std::size_t>(operand.tensor)].levels;
    if (level >= 0 && format::is_sparse(levels[static_cast<std::size_t>(level)]))
      out.push_back({number, level});
  }
  return out;
}

/// The index belongs to a dense level of the result that has a sparse one below it.
bool owns_positions(const NestPtr& body, int index, const NestTree& tree) {
  const auto& target = tree.operands[static_cast<std::size_t>(target_of(body))];
  const Tensor& result = tree.tensors[static_cast<std::size_t>(target.tensor)];
  const int level = level_of(target, index);
  return level >= 0 && !result.temporary() &&
         result.levels[static_cast<std::size_t>(level)] == LevelFormat::dense &&
         std::any_of(result.levels.begin() + level, result.levels.end(), format::is_sparse);
}

bool same_levels(const Formula& formula, Formula::Kind kind, const std::vector<LevelAccess>& levels) {
  return formula.kind == kind && formula.parts.size() == levels.size() &&
         std::all_of(levels.begin(), levels.end(), [&](const LevelAccess& level) {
           const auto held = merge_lattice::held(level);
           return std::find(formula.parts.begin(), formula.parts.end(), held) != formula.parts.end();
         });
}

}  // namespace

LoopSpace loop_space(const NestPtr& body, int index, const NestTree& tree) {
  LoopSpace space;
  space.cursors = sparse_levels(body, index, tree);
  if (space.cursors.empty()) return space;
  Formula formula = SpaceOf(index, tree).nest(body);
  if (formula.kind == Formula::Kind::none || owns_positions(body, index, tree))
    formula = merge_lattice::every();
  if (space.cursors.size() == 1 && formula == merge_lattice::held(space.cursors.front())) {
    space.kind = LoopSpace::Kind::walk;
  } else if (same_levels(formula, Formula::Kind::intersection, space.cursors)) {
    space.kind = LoopSpace::Kind::intersection;
  } else {
    space.kind = LoopSpace::Kind::merge;
    space.whole = formula.kind == Formula::Kind::every;
    if (!space.whole && !same_levels(formula, Formula::Kind::united, space.cursors))
      space.condition = std::move(formula);
  }
  return space;
}

}  // namespace schaas::lower

#include "compiler/lower/analysis/iteration_space.h"

#include <algorithm>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/unstored_value.h"
#include "compiler/support/contains.h"

// Decides what a loop walks, from the coordinates at which its leaves may contribute (merge_lattice.h).
// Lists are walked. Bitmaps, bands and tables locate; where no list bounds the loop, bands are walked, or
// the slots of one table. Whatever of the formula the walk does not ensure becomes a condition of the body.
// A temporary is read at the coordinates that its producer visits; elsewhere it holds its start value.
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

  Space leaf_space(const Leaf& leaf) {
    if (leaf.value) return value(leaf.value);
    std::vector<Space> factors;
    for (const int factor : leaf.factors) factors.push_back(read(factor));
    return factors.size() == 1 ? factors.front() : merge_lattice::product(factors, *tree_.semiring);
  }

 private:
  const Tensor& tensor(int number) const { return tree_.tensors[static_cast<std::size_t>(number)]; }
  const Operand& operand(int number) const { return tree_.operands[static_cast<std::size_t>(number)]; }

  Formula leaf_formula(const Leaf& leaf) {
    // The loop folds the value of all other coordinates at once, after the stored ones (unstored.h).
    if (support::contains(leaf.counted, index_)) return unstored_value(leaf, index_, tree_)->visited;
    return merge_lattice::contributing(leaf_space(leaf), tensor(operand(leaf.target).tensor).fill);
  }

  Space read(int number) {
    const Operand& access = operand(number);
    // The space of a temporary is that of its producer along the same index.
    if (const auto found = passed_.find(access.tensor); found != passed_.end()) {
      const Space& space = found->second;
      return space.visited.kind == Formula::Kind::every ? merge_lattice::anywhere() : space;
    }
    const int level = level_of(access, index_);
    const Tensor& known = tensor(access.tensor);
    if (level < 0 || !format::is_sparse(known.levels[static_cast<std::size_t>(level)]))
      return merge_lattice::anywhere();
    return merge_lattice::stored(LevelAccess{access.pattern ? access.located_by : number, level}, known.fill);
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
            [](const Coordinate&) { return merge_lattice::anywhere(); },
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

/// Returns the levels below the loop that hold only some coordinates of the index, by operand.
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

/// The index belongs to a dense level of the result above a sparse one.
bool owns_positions(const NestPtr& body, int index, const NestTree& tree) {
  const auto& target = tree.operands[static_cast<std::size_t>(target_of(body))];
  const Tensor& result = tree.tensors[static_cast<std::size_t>(target.tensor)];
  const int level = level_of(target, index);
  return level >= 0 && !result.temporary() &&
         result.levels[static_cast<std::size_t>(level)] == LevelFormat::dense &&
         std::any_of(result.levels.begin() + level, result.levels.end(), format::is_sparse);
}

/// The level of the result right below that of the index is sparse, so that no loop inside writes positions
/// of other parents.
bool is_parent_of_entries(const NestPtr& body, int index, const NestTree& tree) {
  const auto& target = tree.operands[static_cast<std::size_t>(target_of(body))];
  const auto& levels = tree.tensors[static_cast<std::size_t>(target.tensor)].levels;
  return format::is_sparse(levels[static_cast<std::size_t>(level_of(target, index)) + 1]);
}

/// Entries are appended to the result in the order of the index.
bool appends_in_order(const NestPtr& body, int index, const NestTree& tree) {
  const auto& target = tree.operands[static_cast<std::size_t>(target_of(body))];
  const Tensor& result = tree.tensors[static_cast<std::size_t>(target.tensor)];
  return !result.temporary() && level_of(target, index) >= 0 &&
         std::any_of(result.levels.begin(), result.levels.end(), format::is_sparse);
}

bool same_levels(const Formula& formula, Formula::Kind kind, const std::vector<LevelAccess>& levels) {
  return formula.kind == kind && formula.parts.size() == levels.size() &&
         std::all_of(levels.begin(), levels.end(), [&](const LevelAccess& level) {
           const auto held = merge_lattice::held(level);
           return std::find(formula.parts.begin(), formula.parts.end(), held) != formula.parts.end();
         });
}

LevelFormat format_of(const LevelAccess& access, const NestTree& tree) {
  const auto& operand = tree.operands[static_cast<std::size_t>(access.operand)];
  const auto& levels = tree.tensors[static_cast<std::size_t>(operand.tensor)].levels;
  return levels[static_cast<std::size_t>(access.level)];
}

/// Returns the bands when the formula is their intersection.
std::vector<LevelAccess> bands_of(const Formula& formula, const NestTree& tree) {
  if (formula.kind != Formula::Kind::level && formula.kind != Formula::Kind::intersection) return {};
  std::vector<LevelAccess> bands;
  for (const auto& part : formula.parts.empty() ? std::vector<Formula>{formula} : formula.parts) {
    if (part.kind != Formula::Kind::level || format_of(part.level, tree) != LevelFormat::banded) return {};
    bands.push_back(part.level);
  }
  return bands;
}

/// Simplifies the formula where the levels in `given` hold the coordinate.
template <class Given>
Formula where_held(const Given& given, const Formula& formula) {
  if (formula.kind == Formula::Kind::level) return given(formula.level) ? merge_lattice::every() : formula;
  if (formula.parts.empty()) return formula;
  std::vector<Formula> parts;
  for (const auto& part : formula.parts) parts.push_back(where_held(given, part));
  return formula.kind == Formula::Kind::intersection ? merge_lattice::intersection(parts)
                                                     : merge_lattice::united(parts);
}

}  // namespace

Space leaf_space(const Leaf& leaf, int index, const NestTree& tree) {
  return SpaceOf(index, tree).leaf_space(leaf);
}

bool implies(const Formula& formula, const LevelAccess& level) {
  const auto implied = [&level](const Formula& part) { return implies(part, level); };
  switch (formula.kind) {
    case Formula::Kind::none:
      return true;
    case Formula::Kind::every:
      return false;
    case Formula::Kind::level:
      return formula.level == level;
    case Formula::Kind::intersection:
      return std::any_of(formula.parts.begin(), formula.parts.end(), implied);
    case Formula::Kind::united:
      return std::all_of(formula.parts.begin(), formula.parts.end(), implied);
  }
  return false;
}

LoopSpace loop_space(const NestPtr& body, int index, const NestTree& tree) {
  LoopSpace space;
  const auto levels = sparse_levels(body, index, tree);
  if (levels.empty()) return space;
  Formula formula = SpaceOf(index, tree).nest(body);
  // No list bounds the loop: nothing contributes, or each parent of a sparse level needs positions.
  if (owns_positions(body, index, tree)) {
    const bool some = formula.kind != Formula::Kind::none && formula.kind != Formula::Kind::every;
    if (some && is_parent_of_entries(body, index, tree)) space.makes_entries = formula;
    formula = merge_lattice::every();
  }
  if (formula.kind == Formula::Kind::none) formula = merge_lattice::every();
  // The walk visits every coordinate that locating levels may accept: by lists, and by bands where lists do
  // not suffice.
  bool walks_bands = false;
  const auto locates = [&](const LevelAccess& level) {
    const LevelFormat kind = format_of(level, tree);
    return format::is_located(kind) && !(walks_bands && kind == LevelFormat::banded);
  };
  Formula listed = where_held(locates, formula);
  if (listed.kind == Formula::Kind::every && formula.kind != Formula::Kind::every) {
    walks_bands = true;
    listed = where_held(locates, formula);
    walks_bands = listed.kind != Formula::Kind::every;
  }
  auto bands = bands_of(listed, tree);
  const auto is_list = [&](const LevelAccess& level) { return !format::is_located(format_of(level, tree)); };
  if (std::any_of(levels.begin(), levels.end(), is_list)) bands.clear();
  for (const auto& level : levels) {
    const bool in_bands = std::find(bands.begin(), bands.end(), level) != bands.end();
    ((bands.empty() ? !locates(level) : in_bands) ? space.cursors : space.located).push_back(level);
  }
  // The slots of a table come in no order, so entries appended in order locate in it instead.
  const auto table = std::find_if(levels.begin(), levels.end(), [&](const LevelAccess& level) {
    return format_of(level, tree) == LevelFormat::hashed && implies(formula, level);
  });
  if (space.cursors.empty() && table != levels.end() && !appends_in_order(body, index, tree)) {
    space.kind = LoopSpace::Kind::table;
    space.cursors.push_back(*table);
    space.located.erase(std::find(space.located.begin(), space.located.end(), *table));
  } else if (space.cursors.empty()) {
    space.kind = LoopSpace::Kind::range;
  } else if (!bands.empty()) {
    space.kind = LoopSpace::Kind::band;
  } else if (space.cursors.size() == 1 && listed == merge_lattice::held(space.cursors.front())) {
    space.kind = LoopSpace::Kind::walk;
  } else if (same_levels(listed, Formula::Kind::intersection, space.cursors)) {
    space.kind = LoopSpace::Kind::intersection;
  } else {
    space.kind = LoopSpace::Kind::merge;
    space.whole = listed.kind == Formula::Kind::every;
    // A merge visits the union of its lists; a formula that is neither that nor all coordinates is tested.
    if (!space.whole && !same_levels(listed, Formula::Kind::united, space.cursors)) space.condition = formula;
  }
  if (formula == listed) return space;
  const auto walked = [&space](const LevelAccess& level) {
    return space.kind != LoopSpace::Kind::merge &&
           std::find(space.cursors.begin(), space.cursors.end(), level) != space.cursors.end();
  };
  // The walk ensures that its own levels hold the coordinate; the rest is tested in the body.
  const Formula left = where_held(walked, formula);
  if (left.kind != Formula::Kind::every) space.condition = left;
  return space;
}

}  // namespace schaas::lower

#include "compiler/lower/passes/nests/row_splitting.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Decides by structure whether partial results over ranges of entries make up an iteration. They do when the
// loop over the entries stands around everything else. They also do when the value is linear in the operand.
// Then one factor of each product depends on it, and all terms of a sum do, or none. Partial results that
// would write the same elements get a carry-out tensor, which a fix-up folds into the target.
namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::Match;

class RowSplitting {
 public:
  RowSplitting(NestTree& tree, const Loop& phase) : tree_(tree), phase_(phase) {}

  std::optional<RowSplit> run() {
    const int target = target_of(phase_.body);
    const Tensor written = tensor_of(target);
    const bool dense = std::all_of(written.levels.begin(), written.levels.end(),
                                   [](LevelFormat level) { return level == LevelFormat::dense; });
    if (!dense || written.occupancy_levels > 0) return std::nullopt;
    for (const int operand : weighed()) {
      if (!divides(operand)) continue;
      RowSplit row_split{operand, -1};
      const auto& indices = tree_.operands[static_cast<std::size_t>(target)].indices;
      const auto has = [&](int index) { return std::count(indices.begin(), indices.end(), index) > 0; };
      const int split_index = tree_.operands[static_cast<std::size_t>(operand)].indices[1];
      // Partial results fold into the target of a reduction, or write elements of their own.
      if (!has(phase_.index) || (around_ && has(split_index))) return row_split;
      if (has(split_index)) continue;
      row_split.carry_out = static_cast<int>(tree_.tensors.size());
      const auto own = static_cast<std::size_t>(
          std::count_if(indices.begin(), indices.end(), [&](int index) { return index != phase_.index; }));
      tree_.tensors.push_back(Tensor{"carry", -1, std::vector<LevelFormat>(own, LevelFormat::dense),
                                     written.fill});  // as in the phase it belongs to
      return row_split;
    }
    return std::nullopt;
  }

 private:
  const Tensor& tensor_of(int operand) const {
    return tree_.tensors[static_cast<std::size_t>(tree_.operands[static_cast<std::size_t>(operand)].tensor)];
  }

  /// Returns the operands whose second level could balance the phase.
  std::vector<int> weighed() const {
    const LoopSpace space = loop_space(phase_.body, phase_.index, tree_);
    if (space.kind == LoopSpace::Kind::table) return {};  // its free slots have no coordinate
    const bool positions = space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::intersection;
    std::vector<int> out;
    for (const int number :
         positions ? std::vector<int>{space.cursors.front().operand} : factors_below(phase_.body, tree_)) {
      const auto& indices = tree_.operands[static_cast<std::size_t>(number)].indices;
      const auto& levels = tensor_of(number).levels;
      if (levels.size() > 1 && indices[0] == phase_.index && indices[1] != phase_.index &&
          (positions || levels[0] == LevelFormat::dense) && format::is_unique(levels[0]) &&
          levels[1] == LevelFormat::compressed)
        out.push_back(number);
    }
    return out;
  }

  /// Partial results over entries of the operand's second level make up an iteration.
  bool divides(int operand) {
    around_ = false;
    const NestPtr* at = &phase_.body;
    while (const auto* loop = std::get_if<Loop>(&(*at)->node)) {
      if (walks(*loop, operand)) return around_ = true;
      at = &loop->body;
    }
    std::set<int> dependent;
    const auto linear = depends(*at, operand, dependent);
    return linear && *linear;
  }

  bool walks(const Loop& loop, int operand) const {
    // A partial result does not know how many entries the row has.
    if (counts_unstored(loop)) return false;
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    const bool all = space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::intersection;
    return all && std::any_of(space.cursors.begin(), space.cursors.end(), [&](const auto& cursor) {
             return cursor.operand == operand && cursor.level == 1;
           });
  }

  /// Tells whether the value of the nest depends on the operand. Nothing when it is not linear in it, or when
  /// its entries are not simply walked. `dependent`: temporaries that depend.
  std::optional<bool> depends(const NestPtr& nest, int operand, std::set<int>& dependent) const {
    return std::visit(
        Match{
            [&](const Loop& loop) -> std::optional<bool> {
              const auto& use = tree_.operands[static_cast<std::size_t>(operand)];
              const auto below = factors_below(loop.body, tree_);
              const bool reads = std::count(below.begin(), below.end(), operand) > 0;
              if (reads && loop.index == use.indices[1] && !walks(loop, operand)) return std::nullopt;
              return depends(loop.body, operand, dependent);
            },
            [&](const Blocks& blocks) { return depends(blocks.body, operand, dependent); },
            [&](const Branch& branch) -> std::optional<bool> {
              const auto producer = depends(branch.producer, operand, dependent);
              if (!producer) return std::nullopt;
              if (*producer) dependent.insert(branch.temporary);
              return depends(branch.consumer, operand, dependent);
            },
            [&](const Terms& sum) -> std::optional<bool> {
              int count = 0;
              for (const auto& term : sum.terms) {
                const auto one = depends(term, operand, dependent);
                if (!one) return std::nullopt;
                count += *one ? 1 : 0;
              }
              if (count > 0 && count < static_cast<int>(sum.terms.size())) return std::nullopt;
              return count > 0;
            },
            [&](const Leaf& leaf) -> std::optional<bool> {
              const auto count = std::count_if(leaf.factors.begin(), leaf.factors.end(), [&](int factor) {
                const Operand& read = tree_.operands[static_cast<std::size_t>(factor)];
                return factor == operand || (read.pattern && read.located_by == operand) ||
                       dependent.count(tree_.operands[static_cast<std::size_t>(factor)].tensor) > 0;
              });
              if (count == 0) return false;
              if (count > 1 || !is_plain_product(leaf)) return std::nullopt;
              return true;
            },
        },
        nest->node);
  }

  NestTree& tree_;
  const Loop& phase_;
  bool around_ = false;  ///< the split loop stands around everything else
};

void find(const NestPtr& nest, NestTree& tree) {
  if (const auto* branch = std::get_if<Branch>(&nest->node)) {
    find(branch->producer, tree);
    find(branch->consumer, tree);
  } else if (const auto* loop = std::get_if<Loop>(&nest->node)) {
    if (loop->annotation.collapsed || loop->annotation.positions > 0)
      return;  // its range counts pairs or entries
    if (const auto row_split = RowSplitting(tree, *loop).run())
      tree.row_splits.emplace(nest.get(), *row_split);
  }
}

}  // namespace

bool split_rows(NestTree& tree) {
  find(tree.root, tree);
  return !tree.row_splits.empty();
}

}  // namespace schaas::lower

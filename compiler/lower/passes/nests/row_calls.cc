#include "compiler/lower/passes/nests/row_calls.h"

#include <algorithm>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// A block is what the schedule directive of that name makes of a branch (docs/schedules.md). Each side of it
// has a loop over the values of the block, and what passes between them has one element for each. The search
// does not choose it, since it changes no trips.
namespace schaas::lower {
namespace {

using loop_ir::Match;

constexpr int rows_of_a_block = 64;

class BlockedCalls {
 public:
  explicit BlockedCalls(NestTree& tree) : tree_(tree) {}

  /// Starts below the root's branches, which split phases.
  NestPtr at_root(const NestPtr& nest) {
    return std::visit(Match{
                          [&](const Branch& branch) {
                            return make_nest({Branch{branch.temporary, at_root(branch.producer),
                                                     at_root(branch.consumer)}});
                          },
                          [&](const Loop& loop) { return phase(loop, nest); },
                          [&](const auto&) { return nest; },
                      },
                      nest->node);
  }

  bool applied() const { return applied_; }

 private:
  NestPtr phase(const Loop& loop, const NestPtr& nest) {
    temporaries_.clear();
    if (!is_plain(loop) || !std::holds_alternative<Branch>(loop.body->node) || !collect(loop.body) ||
        !calls(loop.body))
      return nest;
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    if (space.kind != LoopSpace::Kind::range || space.condition || !space.located.empty()) return nest;
    for (const int temporary : temporaries_) give_index(temporary, loop.index);
    applied_ = true;
    return make_nest({Blocks{loop.index, rows_of_a_block, in_block(loop, loop.body)}});
  }

  static bool is_plain(const Loop& loop) {
    return !loop.block && !loop.entries && !loop.vector && !loop.value &&
           loop.annotation == concrete_notation::LoopAnnotation{};
  }

  /// Collects the temporaries that branches pass inside the row; false where one is no scalar, or where
  /// entries of a sparse result are appended.
  bool collect(const NestPtr& row) {
    const auto* branch = std::get_if<Branch>(&row->node);
    if (branch == nullptr) return is_dense(tensor_of(tree_, target_of(row)));
    const Tensor& passed = tree_.tensors[static_cast<std::size_t>(branch->temporary)];
    if (!passed.levels.empty() || passed.entries_of >= 0) return false;
    temporaries_.push_back(branch->temporary);
    return collect(branch->consumer);
  }

  static bool is_dense(const Tensor& tensor) {
    return std::all_of(tensor.levels.begin(), tensor.levels.end(),
                       [](format::LevelFormat level) { return level == format::LevelFormat::dense; });
  }

  /// Some part of the row is a leaf with a costly function of one of the scalars.
  bool calls(const NestPtr& row) const {
    if (const auto* branch = std::get_if<Branch>(&row->node))
      return calls(branch->producer) || calls(branch->consumer);
    const auto* leaf = std::get_if<Leaf>(&row->node);
    return leaf != nullptr && leaf->value && calls(leaf->value);
  }

  bool calls(const ValuePtr& value) const {
    const auto any = [](const std::vector<ValuePtr>& parts, const auto& holds) {
      return std::any_of(parts.begin(), parts.end(), holds);
    };
    const auto inside = [&](const ValuePtr& part) { return calls(part); };
    if (const auto* product = std::get_if<Multiplied>(&value->node)) return any(product->factors, inside);
    const auto* called = std::get_if<Called>(&value->node);
    if (called == nullptr) return false;
    const bool costly = operators::is_costly(called->function);
    return (costly && reads_scalar(value)) || any(called->arguments, inside);
  }

  bool reads_scalar(const ValuePtr& value) const {
    const auto reads = [&](const ValuePtr& part) { return reads_scalar(part); };
    return std::visit(Match{
                          [&](const Read& read) {
                            return std::count(temporaries_.begin(), temporaries_.end(),
                                              operand(tree_, read.operand).tensor) > 0;
                          },
                          [&](const Multiplied& product) {
                            return std::any_of(product.factors.begin(), product.factors.end(), reads);
                          },
                          [&](const Called& called) {
                            return std::any_of(called.arguments.begin(), called.arguments.end(), reads);
                          },
                          [](const auto&) { return false; },
                      },
                      value->node);
  }

  void give_index(int temporary, int index) {
    Tensor& passed = tree_.tensors[static_cast<std::size_t>(temporary)];
    passed.levels = {format::LevelFormat::dense};
    passed.blocks[index] = {rows_of_a_block, 0};
    for (Operand& each : tree_.operands)
      if (each.tensor == temporary) each.indices = {index};
  }

  /// Puts each part of the row in a loop over the values of a block.
  static NestPtr in_block(const Loop& loop, const NestPtr& row) {
    if (const auto* branch = std::get_if<Branch>(&row->node))
      return make_nest(
          {Branch{branch->temporary, in_block(loop, branch->producer), in_block(loop, branch->consumer)}});
    Loop values = loop;
    values.block = true;
    return with_body(values, row);
  }

  NestTree& tree_;
  std::vector<int> temporaries_;
  bool applied_ = false;
};

}  // namespace

bool block_calls(NestTree& tree) {
  BlockedCalls calls(tree);
  tree.root = calls.at_root(tree.root);
  return calls.applied();
}

}  // namespace schaas::lower

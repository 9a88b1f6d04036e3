#include "compiler/lower/passes/nests/row_index.h"

#include <algorithm>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// A loop over all rows costs their number whatever it does, so an index of them is not dearer. Such loops are
// those over the rows of a sparse result (LoopSpace::whole). Where only rows that lists hold become entries
// of the result (LoopSpace::condition, makes_entries), the list stays: an index does not tell empty rows. All
// loops over the rows of the matrix must be such, since its levels are the same for all of them.
namespace schaas::lower {
namespace {

using format::LevelFormat;
using loop_ir::Match;

/// The loops over the rows of one tensor.
class RowLoops {
 public:
  RowLoops(const NestTree& tree, int tensor) : tree_(tree), tensor_(tensor) { visit(tree.root); }

  bool all_visit_every_row() const { return found_ && suitable_; }

 private:
  /// Returns the operands below whose rows the index binds.
  std::vector<int> with_row(int index, const NestPtr& body) const {
    auto below = factors_below(body, tree_);
    below.erase(std::remove_if(below.begin(), below.end(),
                               [&](int number) {
                                 const Operand& each = operand(tree_, number);
                                 return each.tensor != tensor_ || level_of(each, index) != 0;
                               }),
                below.end());
    return below;
  }

  /// The loop does nothing else at rows that no list holds than at rows without entries.
  static bool may_ask_each_row(const LoopSpace& space, const std::vector<int>& operands) {
    return space.whole && !space.condition &&
           (!space.makes_entries || std::all_of(operands.begin(), operands.end(), [&](int number) {
             return implies(*space.makes_entries, {number, 0});
           }));
  }

  void check(const Loop& loop) {
    const std::vector<int> operands = with_row(loop.index, loop.body);
    if (operands.empty()) return;
    found_ = true;
    const auto& annotation = loop.annotation;
    const bool plain = !loop.block && !loop.entries && !loop.vector && !annotation.collapsed &&
                       !annotation.mapping && annotation.positions == 0;
    suitable_ = suitable_ && plain && may_ask_each_row(loop_space(loop.body, loop.index, tree_), operands);
  }

  void visit(const NestPtr& nest) {
    std::visit(Match{
                   [&](const Loop& loop) {
                     check(loop);
                     visit(loop.body);
                   },
                   [&](const Blocks& blocks) {
                     suitable_ = suitable_ && with_row(blocks.index, blocks.body).empty();
                     visit(blocks.body);
                   },
                   [&](const Branch& branch) {
                     visit(branch.producer);
                     visit(branch.consumer);
                   },
                   [&](const Terms& sum) {
                     for (const auto& term : sum.terms) visit(term);
                   },
                   [](const Leaf&) {},
               },
               nest->node);
  }

  const NestTree& tree_;
  int tensor_;
  bool found_ = false, suitable_ = true;
};

/// No operand of the tensor binds one index twice, is a pattern, or locates others.
bool is_read_plainly(const NestTree& tree, int tensor) {
  return std::all_of(tree.operands.begin(), tree.operands.end(), [&](const Operand& each) {
    const bool located = each.located_by >= 0 && operand(tree, each.located_by).tensor == tensor;
    if (each.tensor != tensor) return !located;
    return !each.pattern && each.located_by < 0 && each.indices[0] != each.indices[1];
  });
}

}  // namespace

bool index_rows(NestTree& tree) {
  const std::vector<LevelFormat> coo = {LevelFormat::compressed_nonunique, LevelFormat::singleton};
  std::vector<int> found;
  for (int n = 1; n < static_cast<int>(tree.tensors.size()); ++n) {
    const Tensor& tensor = tree.tensors[static_cast<std::size_t>(n)];
    if (!tensor.temporary() && tensor.levels == coo && is_read_plainly(tree, n) &&
        RowLoops(tree, n).all_visit_every_row())
      found.push_back(n);
  }
  for (const int n : found) {
    Tensor& tensor = tree.tensors[static_cast<std::size_t>(n)];
    tensor.levels = {LevelFormat::dense, LevelFormat::compressed};
    tensor.has_row_index = true;
  }
  return !found.empty();
}

}  // namespace schaas::lower

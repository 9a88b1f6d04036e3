#include "compiler/lower/analysis/met_lists.h"

#include <algorithm>
#include <vector>

namespace schaas::lower {
namespace {

using merge_lattice::LevelAccess;

/// Returns the branch that makes the temporary, or null.
const Branch* branch_of(int temporary, const NestPtr& nest) {
  return std::visit(loop_ir::Match{
                        [&](const Loop& loop) { return branch_of(temporary, loop.body); },
                        [&](const Blocks& blocks) { return branch_of(temporary, blocks.body); },
                        [&](const Branch& branch) -> const Branch* {
                          if (branch.temporary == temporary) return &branch;
                          const Branch* inside = branch_of(temporary, branch.producer);
                          return inside != nullptr ? inside : branch_of(temporary, branch.consumer);
                        },
                        [&](const Terms& sum) -> const Branch* {
                          for (const NestPtr& term : sum.terms)
                            if (const Branch* inside = branch_of(temporary, term)) return inside;
                          return nullptr;
                        },
                        [](const Leaf&) -> const Branch* { return nullptr; },
                    },
                    nest->node);
}

/// Returns the leaf of a sum of products over one index, or null.
const Leaf* summed_product(const Loop& loop) {
  const auto* leaf = std::get_if<Leaf>(&loop.body->node);
  const bool is_plain = leaf != nullptr && is_plain_product(*leaf) && leaf->counted < 0 &&
                        leaf->comparisons.empty() && !loop.block && !loop.entries && !loop.value;
  return is_plain ? leaf : nullptr;
}

class Lists {
 public:
  Lists(int index, const NestTree& tree) : index_(index), tree_(tree) {}

  /// Adds the lists of the factors; false where a factor is of another form. `nested`: of a temporary.
  bool add(const Leaf& leaf, bool nested) {
    return std::all_of(leaf.factors.begin(), leaf.factors.end(),
                       [&](int factor) { return add(factor, nested); });
  }
  const std::vector<LevelAccess>& found() const { return found_; }

 private:
  bool add(int number, bool nested) {
    const Operand& read = operand(tree_, number);
    const Tensor& tensor = tensor_of(tree_, number);
    const int level = level_of(read, index_);
    if (level < 0) return true;
    if (read.located_by >= 0 || tensor.has_row_index) return false;
    if (tensor.temporary()) return !nested && add_temporary(read);
    const auto format = tensor.levels[static_cast<std::size_t>(level)];
    if (format == format::LevelFormat::dense) return true;
    if (format != format::LevelFormat::compressed || level + 1 != static_cast<int>(tensor.levels.size()))
      return false;
    const LevelAccess list{number, level};
    if (std::find(found_.begin(), found_.end(), list) == found_.end()) found_.push_back(list);
    return true;
  }

  bool add_temporary(const Operand& read) {
    const Branch* branch = branch_of(read.tensor, tree_.root);
    if (branch == nullptr || read.indices.size() != 1) return false;
    const auto* loop = std::get_if<Loop>(&branch->producer->node);
    if (loop == nullptr || loop->index != index_) return false;
    const Leaf* leaf = summed_product(*loop);
    const std::size_t before = found_.size();
    return leaf != nullptr && add(*leaf, true) && found_.size() == before + 1;
  }

  int index_;
  const NestTree& tree_;
  std::vector<LevelAccess> found_;
};

}  // namespace

std::optional<MetLists> met_lists(const Loop& appending, const NestTree& tree) {
  const auto* loop = std::get_if<Loop>(&appending.body->node);
  const Leaf* leaf = loop == nullptr ? nullptr : summed_product(*loop);
  if (leaf == nullptr) return std::nullopt;
  const Operand& target = operand(tree, leaf->target);
  const auto& levels = tensor_of(tree, leaf->target).levels;
  if (level_of(target, loop->index) >= 0 || levels.empty() ||
      level_of(target, appending.index) + 1 != static_cast<int>(levels.size()))
    return std::nullopt;
  Lists lists(loop->index, tree);
  if (!lists.add(*leaf, false) || lists.found().size() != 2) return std::nullopt;
  return MetLists{lists.found()[0], lists.found()[1], loop->index};
}

}  // namespace schaas::lower

#include "compiler/lower/analysis/met_lists.h"

#include <algorithm>
#include <vector>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// The loop below the append must be the only one, and fold a sum. Its operands tell the lists: those of
// arguments, and the one that a vector of the row was filled from. The loop's iteration space must be the
// intersection of the arguments' lists, so a term exists exactly where all lists hold the coordinate.
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

/// Returns the leaf of a sum over one index, or null.
const Leaf* summed(const Loop& loop, const NestTree& tree) {
  const auto* leaf = std::get_if<Leaf>(&loop.body->node);
  const bool is_sum = leaf != nullptr && leaf->monoid == tree.semiring->sum && leaf->counted.empty() &&
                      leaf->comparisons.empty() && !loop.block && !loop.entries && !loop.value;
  return is_sum ? leaf : nullptr;
}

/// The loop visits the coordinates that all of these lists hold.
bool intersects(const Loop& loop, const std::vector<LevelAccess>& lists, const NestTree& tree) {
  const LoopSpace space = loop_space(loop.body, loop.index, tree);
  if (space.condition || (space.kind != LoopSpace::Kind::walk && space.kind != LoopSpace::Kind::intersection))
    return false;
  return space.cursors.size() == lists.size() &&
         std::is_permutation(space.cursors.begin(), space.cursors.end(), lists.begin());
}

class Lists {
 public:
  explicit Lists(const NestTree& tree) : tree_(tree) {}

  /// Adds the lists of the operands of a loop's sum; false where the sum is of another form. `nested`: it
  /// makes a temporary.
  bool add(const Loop& loop, bool nested) {
    const Leaf* leaf = summed(loop, tree_);
    if (leaf == nullptr) return false;
    std::vector<LevelAccess> walked;
    for (const int factor : leaf->factors)
      if (!add(factor, loop.index, nested, walked)) return false;
    return intersects(loop, walked, tree_);
  }
  const std::vector<LevelAccess>& found() const { return found_; }

 private:
  /// `walked`: lists of operands, without those of temporaries.
  bool add(int number, int index, bool nested, std::vector<LevelAccess>& walked) {
    const Operand& read = operand(tree_, number);
    const Tensor& tensor = tensor_of(tree_, number);
    const int level = level_of(read, index);
    if (level < 0) return true;
    if (read.located_by >= 0 || tensor.has_row_index) return false;
    if (tensor.temporary()) return !nested && add_temporary(read, index);
    const auto format = tensor.levels[static_cast<std::size_t>(level)];
    if (format == format::LevelFormat::dense) return true;
    if (format != format::LevelFormat::compressed || level + 1 != static_cast<int>(tensor.levels.size()))
      return false;
    const LevelAccess list{number, level};
    if (std::find(walked.begin(), walked.end(), list) == walked.end()) walked.push_back(list);
    if (std::find(found_.begin(), found_.end(), list) == found_.end()) found_.push_back(list);
    return true;
  }

  bool add_temporary(const Operand& read, int index) {
    const Branch* branch = branch_of(read.tensor, tree_.root);
    if (branch == nullptr || read.indices.size() != 1) return false;
    const auto* loop = std::get_if<Loop>(&branch->producer->node);
    const std::size_t before = found_.size();
    return loop != nullptr && loop->index == index && add(*loop, true) && found_.size() == before + 1;
  }

  const NestTree& tree_;
  std::vector<LevelAccess> found_;
};

}  // namespace

std::optional<MetLists> met_lists(const Loop& appending, const NestTree& tree) {
  const auto* loop = std::get_if<Loop>(&appending.body->node);
  const Leaf* leaf = loop == nullptr ? nullptr : summed(*loop, tree);
  if (leaf == nullptr) return std::nullopt;
  const Operand& target = operand(tree, leaf->target);
  const auto& levels = tensor_of(tree, leaf->target).levels;
  if (level_of(target, loop->index) >= 0 || levels.empty() ||
      level_of(target, appending.index) + 1 != static_cast<int>(levels.size()))
    return std::nullopt;
  Lists lists(tree);
  if (!lists.add(*loop, false) || lists.found().size() != 2) return std::nullopt;
  return MetLists{lists.found()[0], lists.found()[1], loop->index};
}

}  // namespace schaas::lower

#include "compiler/lower/analysis/referenced_rows.h"

#include <map>

#include "compiler/loop_ir/nodes.h"
#include "compiler/lower/analysis/iteration_space.h"

// Finds the rows of a temporary that its readers can reference. At each read, the loop over the row's index
// must walk a compressed level of an operand. When all reads agree on the level, rows at other coordinates
// need not be computed. A read under any other loop, and a reader that writes the temporary, need all of
// them.
namespace schaas::lower {
namespace {

using loop_ir::Match;
using merge_lattice::LevelAccess;

const Tensor& tensor(const NestTree& tree, int number) {
  return tree.tensors[static_cast<std::size_t>(operand(tree, number).tensor)];
}

/// Collects the levels that the loops of a nest walk where a temporary is read.
class Reads {
 public:
  Reads(int temporary, const NestTree& tree) : temporary_(temporary), tree_(tree) {}

  void collect(const NestPtr& nest) {
    std::visit(Match{
                   [&](const Loop& loop) {
                     const auto outside = walked_;
                     walked_[loop.index] = walked_by(loop);
                     collect(loop.body);
                     walked_ = outside;
                   },
                   [&](const Blocks& blocks) { collect(blocks.body); },
                   [&](const Branch& branch) { collect(branch.producer), collect(branch.consumer); },
                   [&](const Terms& sum) {
                     for (const auto& term : sum.terms) collect(term);
                   },
                   [&](const Leaf& leaf) {
                     for (const int number : leaf.factors) note(number);
                     if (operand(tree_, leaf.target).tensor == temporary_) all_ = true;
                   },
               },
               nest->node);
  }

  std::optional<LevelAccess> level() const { return all_ ? std::nullopt : level_; }

 private:
  std::optional<LevelAccess> walked_by(const Loop& loop) const {
    const LoopSpace space = loop_space(loop.body, loop.index, tree_);
    if (space.kind != LoopSpace::Kind::walk || space.cursors.size() != 1) return {};
    const LevelAccess cursor = space.cursors.front();
    const Tensor& walked = tensor(tree_, cursor.operand);
    const bool compressed =
        walked.levels[static_cast<std::size_t>(cursor.level)] == format::LevelFormat::compressed;
    // The client lists the coordinates, and has only those of operands.
    if (walked.argument < 1 || !compressed || operand(tree_, cursor.operand).located_by >= 0) return {};
    return cursor;
  }

  /// Notes a read: all rows may be referenced unless it agrees with the reads before.
  void note(int number) {
    const Operand& read = operand(tree_, number);
    if (read.tensor != temporary_) return;
    const auto walked =
        read.indices.empty() || read.located_by >= 0 ? walked_.end() : walked_.find(read.indices.front());
    if (walked == walked_.end() || !walked->second) {
      all_ = true;
    } else if (!level_) {
      level_ = walked->second;
    } else {
      const bool same =
          tensor(tree_, level_->operand).argument == tensor(tree_, walked->second->operand).argument;
      if (!same || level_->level != walked->second->level) all_ = true;
    }
  }

  const int temporary_;
  const NestTree& tree_;
  std::map<int, std::optional<LevelAccess>> walked_;  ///< by index of the loops around
  std::optional<LevelAccess> level_;
  bool all_ = false;  ///< some read may touch any row
};

}  // namespace

std::optional<LevelAccess> referenced_rows(const NestPtr& reader, int temporary, const NestTree& tree) {
  Reads reads(temporary, tree);
  reads.collect(reader);
  return reads.level();
}

bool iterates_rows(const NestPtr& phase, int target, const NestTree& tree) {
  const auto* loop = std::get_if<Loop>(&phase->node);
  const Tensor& written = tensor(tree, target);
  if (loop == nullptr || loop->vector || loop->block || loop->entries) return false;
  if (loop->annotation.collapsed || loop->annotation.positions > 0 || loop->annotation.mapping) return false;
  if (!written.temporary() || written.masked || written.hashed || written.occupancy_levels > 0 ||
      written.entries_of >= 0)
    return false;
  if (level_of(operand(tree, target), loop->index) != 0 || tree.row_splits.count(phase.get()) > 0)
    return false;
  const LoopSpace space = loop_space(loop->body, loop->index, tree);
  return space.kind == LoopSpace::Kind::range && !space.condition && space.located.empty();
}

loop_ir::Phase over_referenced_rows(loop_ir::Phase phase, const std::string& list,
                                    const std::string& variable) {
  auto statements = loop_ir::statements_of(phase.body);
  for (auto& each : statements) {
    const auto* rows = std::get_if<loop_ir::For>(&each->node);
    if (rows == nullptr) continue;
    auto body = loop_ir::statements_of(rows->body);
    // The old variable becomes the coordinate that is listed.
    body.insert(body.begin(), loop_ir::make(loop_ir::Let{rows->variable, loop_ir::Type::index,
                                                         loop_ir::load(list, loop_ir::name(variable))}));
    loop_ir::For listed = *rows;
    listed.variable = variable;
    listed.entries = list;
    listed.body = loop_ir::block(std::move(body));
    each = loop_ir::make(std::move(listed));
  }
  phase.body = loop_ir::block(std::move(statements));
  phase.over = list;
  return phase;
}

}  // namespace schaas::lower

#include "compiler/lower/emit/phase_range.h"

#include "compiler/lower/emit/facts/work.h"
#include "compiler/lower/emit/levels/entry_ranges.h"

namespace schaas::lower {

using format::LevelFormat;

namespace {

/// Weighs an iteration by the entries that it has in the level right below the outermost one.
void weigh_by_entries(loop_ir::Phase& phase, const std::vector<int>& operands, int index, bool positions,
                      const EmissionFacts& facts) {
  for (const int number : operands) {
    const auto& levels = facts.tensor_of(number).levels;
    if (level_of(facts.operand(number), index) != 0) continue;
    const bool here = levels[0] == LevelFormat::dense || levels[0] == LevelFormat::bitmap || positions;
    const bool weighs =
        levels.size() > 1 && (levels[1] == LevelFormat::compressed || levels[1] == LevelFormat::banded);
    if (here && weighs) {
      phase.balance_argument = facts.tensor_of(number).argument;
      phase.balance_level = 1;
      return;
    }
  }
}

}  // namespace

loop_ir::Phase phase_of(const NestPtr& nest, const EmissionFacts& facts) {
  loop_ir::Phase phase;
  phase.range = loop_ir::integer(1);
  const auto* loop = std::get_if<Loop>(&nest->node);
  const auto* blocks = std::get_if<Blocks>(&nest->node);
  if (!loop && !blocks) return phase;
  const int index = loop ? loop->index : blocks->index;
  const NestPtr& body = loop ? loop->body : blocks->body;
  const int target = target_of(nest);
  phase.parallel = loop ? writes_own(*loop, facts.tree) : level_of(facts.operand(target), index) >= 0;
  // Ranges need not write disjoint elements when they write atomically, or fold into private copies.
  if (facts.atomic >= 0) {
    phase.parallel = true;
  } else if (!phase.parallel && !facts.tracks(target) && !facts.appends_to(target)) {
    phase.parallel = true;
    phase.fold = loop_ir::Fold{facts.builder.arrays.values(facts.operand(target).tensor), monoid_of(nest),
                               work_of(nest, facts.tree, facts.builder)};
  }
  if (loop != nullptr && loop->annotation.positions > 0) {
    phase.range = facts.builder.arrays.entries(facts.operand(operand_at(*loop, facts.tree)),
                                               loop->annotation.positions - 1);
    return phase;
  }
  const LoopSpace space = loop_space(body, index, facts.tree);
  const bool positions = space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::table ||
                         (loop != nullptr && space.kind == LoopSpace::Kind::intersection);
  if (positions) {
    const auto& walked = space.cursors.front();
    SCHAAS_CHECK(walked.level == 0, "the outermost loop is below another level");
    phase.range = loop_ir::load(facts.builder.arrays.positions(facts.operand(walked.operand).tensor, 0),
                                loop_ir::integer(1));
  } else {
    phase.range = facts.builder.extents.of(index);
  }
  if (loop && loop->annotation.collapsed) {
    phase.range = loop_ir::multiply(phase.range, facts.builder.extents.of(std::get<Loop>(body->node).index));
    return phase;
  }
  const auto row_split = facts.tree.row_splits.find(nest.get());
  if (row_split != facts.tree.row_splits.end()) {
    phase.balance_argument = facts.tensor_of(row_split->second.operand).argument;
    phase.balance_level = 1;
    return phase;
  }
  weigh_by_entries(
      phase, positions ? std::vector<int>{space.cursors.front().operand} : factors_below(body, facts.tree),
      index, positions, facts);
  return phase;
}

bool reduces_across_threads(const NestPtr& nest, const NestTree& tree) {
  if (const auto* branch = std::get_if<Branch>(&nest->node))
    return reduces_across_threads(branch->consumer, tree);
  const auto* loop = std::get_if<Loop>(&nest->node);
  return loop != nullptr && (loop->annotation.collapsed || loop->annotation.positions > 0) &&
         !writes_own(*loop, tree);
}

}  // namespace schaas::lower

#include "compiler/lower/emit/levels/entry_ranges.h"

#include <algorithm>

namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;

int operand_at(const Loop& loop, const NestTree& tree) {
  std::vector<int> indices;
  const Loop* at = &loop;
  while (at != nullptr && static_cast<int>(indices.size()) < loop.annotation.positions) {
    if (!at->vector) indices.push_back(at->index);
    at = std::get_if<Loop>(&at->body->node);
  }
  for (const int number : factors_below(loop.body, tree)) {
    const auto& use = operand(tree, number).indices;
    if (use.size() >= indices.size() && std::equal(indices.begin(), indices.end(), use.begin()) &&
        tensor_of(tree, number).levels[indices.size() - 1] == format::LevelFormat::compressed)
      return number;
  }
  SCHAAS_CHECK(false, "positions of nothing");
}

EntryRanges find_entry_ranges(const Loop& loop, const EmissionFacts& facts, Statements& out) {
  using operators::Function;
  EntryRanges ranges{operand_at(loop, facts.tree),
                     std::vector<loop_ir::Range>(static_cast<std::size_t>(loop.annotation.positions))};
  const Operand& walked = facts.operand(ranges.operand);
  ranges.levels.back() = {loop_ir::range_begin(), loop_ir::range_end()};
  const auto named = [&](const ExpressionPtr& value) {
    const std::string text = facts.fresh("o");
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::index, value}));
    return loop_ir::name(text);
  };
  const bool single = facts.mapped.rows != nullptr && facts.mapped.mapping.grain == 1;
  for (int level = loop.annotation.positions - 1; level > 0; --level) {
    const auto& below = ranges.levels[static_cast<std::size_t>(level)];
    const std::string ends = facts.builder.arrays.positions(walked.tensor, level);
    const auto all = facts.builder.arrays.entries(walked, level - 1);
    // Parent past - 1 has entry `begin`: positions[past] is the first above it.
    const auto past = named(
        loop_ir::search(ends, loop_ir::integer(0), all, loop_ir::add(below.begin, loop_ir::integer(1))));
    const auto first =
        loop_ir::apply(Function::maximum, {loop_ir::add(past, loop_ir::integer(-1)), loop_ir::integer(0)});
    ranges.levels[static_cast<std::size_t>(level - 1)] = {
        named(first), single ? past : named(loop_ir::search(ends, past, all, below.end))};
  }
  return ranges;
}

bool cuts_rows(const merge_lattice::LevelAccess& walked, const Scope& scope, const EmissionFacts& facts) {
  if (!facts.for_gpu || facts.mapped.rows == nullptr || facts.mapped.mapping.grain == 1) return false;
  const int target = target_of(facts.mapped.rows->body);
  const Tensor& result = facts.tensor_of(target);
  return facts.mapped.rows->annotation.positions == 2 && walked.operand == scope.entry_ranges.operand &&
         walked.level == 1 &&
         level_of(facts.operand(target), facts.operand(walked.operand).indices[0]) >= 0 &&
         !result.temporary() && result.fill == 0 &&
         monoid_of(facts.mapped.rows->body) == operators::Monoid::sum && !facts.adds_terms &&
         !facts.tree.update;
}

bool writes_own(const Loop& loop, const NestTree& tree) {
  const Operand& target = operand(tree, target_of(loop.body));
  const Operand* walked = loop.annotation.positions > 0 ? &operand(tree, operand_at(loop, tree)) : nullptr;
  for (int level = 0; level < loop.annotation.positions; ++level) {
    if (level_of(target, walked->indices[static_cast<std::size_t>(level)]) < 0) return false;
  }
  if (loop.annotation.collapsed && level_of(target, std::get<Loop>(loop.body->node).index) < 0) return false;
  return level_of(target, loop.index) >= 0;
}

}  // namespace schaas::lower

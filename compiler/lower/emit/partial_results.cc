#include "compiler/lower/emit/partial_results.h"

#include <utility>

// Row splitting of one iteration: the statements for a range of positions of one level, and the fix-up that
// folds carry-out values into the target. Compare Merrill and Garland, Merge-based SpMV, SC 2016. A partial
// result is the same nest, emitted for a tree of its own: the split level is walked at [first, last), and the
// carry-out tensor replaces the target where partial results share elements.
namespace schaas::lower {

using loop_ir::make;

namespace {

/// Makes `part` emit code of the same phase, with the same temporaries between phases.
void follow(const Emission& around, Emission& part) {
  part.facts.outermost = around.facts.outermost;
  part.facts.atomic = around.facts.atomic;
  part.accumulators.share(around.accumulators);
}

/// Returns the indices of the carry-out, which has the elements of one iteration.
std::vector<int> carried_indices(const NestPtr& nest, const Operand& target) {
  const int outer = std::get<Loop>(nest->node).index;
  std::vector<int> indices;
  for (const int index : target.indices) {
    if (index != outer) indices.push_back(index);
  }
  return indices;
}

/// Emits target(begin, indices) = carry_out(indices), or its fold.
loop_ir::StatementPtr emit_fix_up(const NestPtr& nest, const Sink& sink, const RowSplit& row_split,
                                  const Emission& around) {
  const Loop& outer = std::get<Loop>(nest->node);
  const auto indices = carried_indices(nest, around.facts.operand(sink.operand));
  NestTree tree = around.facts.tree;
  const int carried = static_cast<int>(tree.operands.size());
  tree.operands.push_back(Operand{row_split.carry_out, indices});
  Leaf leaf{sink.operand, {carried}, sink.monoid, nullptr};
  if (sink.monoid != around.facts.tree.semiring->sum)
    leaf.value = std::make_shared<const Value>(Value{Read{carried}});
  NestPtr inside = make_nest({leaf});
  for (auto index = indices.rbegin(); index != indices.rend(); ++index)
    inside = make_nest({Loop{*index, inside, false, false, {}}});
  Emission combining(tree, around.facts.builder);
  follow(around, combining);
  combining.facts.outermost = nullptr;
  Statements out;
  Scope scope = combining.levels.start(inside, out);
  const LoopSpace space = around.facts.space_of(outer);
  std::string coordinate = loop_ir::range_names[0];
  // The range counts positions of a walked level; the row is the coordinate there.
  if (space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::intersection) {
    const auto& walked = space.cursors.front();
    coordinate = around.facts.fresh(around.facts.letter_of(outer.index));
    const auto held = loop_ir::load(
        around.facts.builder.arrays.coordinates(around.facts.operand(walked.operand).tensor, walked.level),
        loop_ir::range_begin());
    out.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index, held}));
  }
  combining.levels.bind(Loop{outer.index, inside, false, false, {}}, coordinate, scope, out);
  Sink to = sink;
  // Nothing was added to the row before: the fix-up stores.
  if (around.clearing.is_open()) {
    around.clearing.clear(loop_ir::range_begin(), loop_ir::name(coordinate), false, out);
    to.mode = loop_ir::Write::set;
  }
  combining.nests.emit(inside, scope, to, out);
  return loop_ir::block(std::move(out));
}

}  // namespace

loop_ir::RowSplit emit_row_split(const NestPtr& nest, const Sink& sink, const RowSplit& row_split,
                                 const Emission& around) {
  loop_ir::RowSplit out;
  out.monoid = sink.monoid;
  NestTree tree = around.facts.tree;
  Sink into = sink;
  if (row_split.carry_out >= 0) {
    const auto indices = carried_indices(nest, around.facts.operand(sink.operand));
    tree.operands[static_cast<std::size_t>(sink.operand)] = Operand{row_split.carry_out, indices};
    into.mode = loop_ir::Write::fold;
    around.facts.builder.scratch.add_carry_out(row_split.carry_out, indices);
    out.carry_out = around.facts.builder.arrays.values(row_split.carry_out);
  }
  Emission part(tree, around.facts.builder);
  follow(around, part);
  Statements statements;
  Scope scope = part.levels.start(nest, statements);
  scope.split_level = merge_lattice::LevelAccess{row_split.operand, 1};
  part.nests.emit(nest, scope, into, statements);
  out.partial = loop_ir::block(std::move(statements));
  if (row_split.carry_out >= 0) out.fix_up = emit_fix_up(nest, sink, row_split, around);
  return out;
}

}  // namespace schaas::lower

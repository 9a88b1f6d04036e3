#include "compiler/lower/emit/emitter.h"

// Row splitting of one iteration: the statements for a range of positions of one level, and the fix-up that
// folds carry-out values into the target. Compare Merrill and Garland, Merge-based SpMV, SC 2016. A partial
// result is the same nest, emitted by an emitter of its own. The split level is walked at [first, last), and
// the carry-out tensor replaces the target where partial results share elements.
namespace schaas::lower {

using loop_ir::make;

Emitter::Emitter(const NestTree& tree, const Emitter& other)
    : tree_(tree),
      builder_(other.builder_),
      outermost_(other.outermost_),
      atomic_(other.atomic_),
      scalars_(other.scalars_),
      accumulators_(other.accumulators_) {}

/// Emits the partial result of an iteration and, where it has a carry-out, the fix-up.
loop_ir::RowSplit Emitter::emit_row_split(const NestPtr& nest, const Sink& sink, const RowSplit& row_split) {
  loop_ir::RowSplit out;
  out.monoid = sink.monoid;
  NestTree tree = tree_;
  Sink into = sink;
  std::vector<int> indices;
  if (row_split.carry_out >= 0) {
    const int outer = std::get<Loop>(nest->node).index;
    for (const int index : operand(sink.operand).indices) {
      // The carry-out has the elements of one iteration.
      if (index != outer) indices.push_back(index);
    }
    tree.operands[static_cast<std::size_t>(sink.operand)] = Operand{row_split.carry_out, indices};
    into.mode = loop_ir::Write::fold;
    builder_.add_carry_out(row_split.carry_out, indices);
    out.carry_out = builder_.values(row_split.carry_out);
  }
  Emitter part(tree, *this);
  part.split_level_ = merge_lattice::LevelAccess{row_split.operand, 1};
  Statements statements;
  const Scope scope = part.start(nest, statements);
  part.emit(nest, scope, into, statements);
  out.partial = loop_ir::block(std::move(statements));
  if (row_split.carry_out >= 0) out.fix_up = emit_fix_up(nest, sink, row_split, indices);
  return out;
}

/// Emits target(begin, indices) = carry_out(indices), or its fold.
loop_ir::StatementPtr Emitter::emit_fix_up(const NestPtr& nest, const Sink& sink, const RowSplit& row_split,
                                           const std::vector<int>& indices) {
  const Loop& outer = std::get<Loop>(nest->node);
  NestTree tree = tree_;
  const int carried = static_cast<int>(tree.operands.size());
  tree.operands.push_back(Operand{row_split.carry_out, indices});
  Leaf leaf{sink.operand, {carried}, sink.monoid, nullptr};
  if (sink.monoid != tree_.semiring->sum) leaf.value = std::make_shared<const Value>(Value{Read{carried}});
  NestPtr inside = make_nest({leaf});
  for (auto index = indices.rbegin(); index != indices.rend(); ++index)
    inside = make_nest({Loop{*index, inside, false, false, {}}});
  Emitter combining(tree, *this);
  combining.outermost_ = nullptr;
  Statements out;
  Scope scope = combining.start(inside, out);
  const LoopSpace space = loop_space(outer.body, outer.index, tree_);
  std::string coordinate = loop_ir::range_names[0];
  // The range counts positions of a walked level; the row is the coordinate there.
  if (space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::intersection) {
    const auto& walked = space.cursors.front();
    coordinate = builder_.names().fresh(letter_of(outer.index));
    const auto held = loop_ir::load(builder_.coordinates(operand(walked.operand).tensor, walked.level),
                                    loop_ir::range_begin());
    out.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index, held}));
  }
  combining.bind(Loop{outer.index, inside, false, false, {}}, coordinate, scope, out);
  Sink to = sink;
  // Nothing was added to the row before: the fix-up stores.
  if (cleared_) {
    clear_rows(loop_ir::range_begin(), loop_ir::name(coordinate), false, out);
    to.mode = loop_ir::Write::set;
  }
  combining.emit(inside, scope, to, out);
  return loop_ir::block(std::move(out));
}

}  // namespace schaas::lower

// An iteration of a phase in parts: the same statements once more, for some of the positions of one level,
// and what takes what they give to its place.
#include "compiler/lower/emitter.h"

namespace schaas::lower {

using loop_ir::make;

Emitter::Emitter(const NestTree& tree, const Emitter& other)
    : tree_(tree),
      builder_(other.builder_),
      outermost_(other.outermost_),
      atomic_(other.atomic_),
      scalars_(other.scalars_),
      tracking_(other.tracking_) {}

loop_ir::Cut Emitter::emit_cut(const NestPtr& nest, const Sink& sink, const PhaseCut& cut) {
  loop_ir::Cut out;
  out.monoid = sink.monoid;
  NestTree tree = tree_;
  Sink into = sink;
  std::vector<int> indices;
  if (cut.carry >= 0) {
    const int outer = std::get<Loop>(nest->node).index;
    for (const int index : operand(sink.operand).indices) {
      if (index != outer) indices.push_back(index);
    }
    tree.operands[static_cast<std::size_t>(sink.operand)] = Operand{cut.carry, indices};
    into.mode = loop_ir::Write::fold;
    builder_.add_carry(cut.carry, indices);
    out.carry = builder_.values(cut.carry);
  }
  Emitter part(tree, *this);
  part.cut_ = merge_lattice::LevelAccess{cut.operand, 1};
  Statements statements;
  const Scope scope = part.start(nest, statements);
  part.emit(nest, scope, into, statements);
  out.part = loop_ir::block(std::move(statements));
  if (cut.carry >= 0) out.combine = emit_combine(nest, sink, cut, indices);
  return out;
}

/// target(begin, indices) = carry(indices), or folded into it.
loop_ir::StatementPtr Emitter::emit_combine(const NestPtr& nest, const Sink& sink, const PhaseCut& cut,
                                            const std::vector<int>& indices) {
  const Loop& outer = std::get<Loop>(nest->node);
  NestTree tree = tree_;
  const int carried = static_cast<int>(tree.operands.size());
  tree.operands.push_back(Operand{cut.carry, indices});
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
  std::string coordinate = "begin";
  if (space.kind == LoopSpace::Kind::walk || space.kind == LoopSpace::Kind::intersection) {
    const auto& walked = space.cursors.front();
    coordinate = builder_.names().fresh(letter_of(outer.index));
    const auto held = loop_ir::load(builder_.coordinates(operand(walked.operand).tensor, walked.level),
                                    loop_ir::name("begin"));
    out.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index, held}));
  }
  combining.bind(Loop{outer.index, inside, false, false, {}}, coordinate, scope, out);
  Sink to = sink;
  if (cleared_) {
    clear_rows(loop_ir::name("begin"), loop_ir::name(coordinate), false, out);
    to.mode = loop_ir::Write::set;
  }
  combining.emit(inside, scope, to, out);
  return loop_ir::block(std::move(out));
}

}  // namespace schaas::lower

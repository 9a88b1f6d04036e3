#include "compiler/lower/emit/levels/block_loops.h"

#include <utility>

// Blocks of a fixed length, or a fixed number of blocks. They are taken from a range of values, or from the
// positions of the one list that is walked. The outermost loop of a phase takes blocks of its range.
namespace schaas::lower {

using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Shape;

ExpressionPtr offset_in(const OpenBlock& block, const std::string& value) {
  return loop_ir::add(loop_ir::name(value),
                      loop_ir::multiply(loop_ir::integer(-1), loop_ir::name(block.begin)));
}

void bind_block(const Loop& loop, const ExpressionPtr& offset, const NestTree& tree, Scope& scope) {
  for (const int number : operands_below(loop.body, tree)) {
    const int level = level_of(operand(tree, number), loop.index);
    if (level < 0 || tensor_of(tree, number).blocks.count(loop.index) == 0) continue;
    scope.positions[static_cast<std::size_t>(number)].bound[static_cast<std::size_t>(level)] = offset;
  }
}

loop_ir::Range BlockLoops::open(const Blocks& blocks, Scope& scope) const {
  const LoopSpace space = loop_space(blocks.body, blocks.index, facts_.tree);
  const std::string letter = facts_.letter_of(blocks.index);
  loop_ir::Range all{loop_ir::integer(0), nullptr};
  OpenBlock open;
  if (space.kind == LoopSpace::Kind::walk) {
    open.walked = space.cursors.front();
    const auto walk = levels_.cursor(*open.walked, letter, scope);
    all = {walk.begin, walk.end};
  } else {
    all.end = facts_.builder.extents.of(blocks.index);
  }
  open.begin = facts_.fresh(letter + "_block");
  open.end = facts_.fresh(letter + "_block_end");
  scope.blocks[blocks.index] = open;
  return all;
}

void BlockLoops::emit(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body) const {
  Scope inner = scope;
  auto all = open(blocks, inner);
  if (blocks.parts > 0) return emit_divided(blocks, inner, all, out, body);
  if (&blocks == facts_.outermost) all = {loop_ir::range_begin(), loop_ir::range_end()};
  const OpenBlock open = inner.blocks.at(blocks.index);
  const auto next = loop_ir::add(loop_ir::name(open.begin), loop_ir::integer(blocks.size));
  Statements statements;
  statements.push_back(make(loop_ir::Let{open.end, loop_ir::Type::index, loop_ir::minimum(next, all.end)}));
  body(inner, statements);
  out.push_back(make(loop_ir::For{open.begin, all.begin, all.end, Shape::scalar,
                                  loop_ir::block(std::move(statements)), blocks.size}));
}

/// Emits a number of blocks of equal length over `all` values; the range of a phase holds some of them.
void BlockLoops::emit_divided(const Blocks& blocks, Scope& inner, const loop_ir::Range& all, Statements& out,
                              const Body& body) const {
  using operators::Function;
  const OpenBlock open = inner.blocks.at(blocks.index);
  const std::string letter = facts_.letter_of(blocks.index);
  const std::string first = facts_.fresh("o"), size = facts_.fresh("n");
  const auto count = loop_ir::subtract(all.end, loop_ir::name(first));
  // Rounded up: the last blocks may be shorter, or empty.
  const auto rounded = loop_ir::add(count, loop_ir::integer(blocks.parts - 1));
  out.push_back(make(loop_ir::Let{first, loop_ir::Type::index, all.begin}));
  out.push_back(
      make(loop_ir::Let{size, loop_ir::Type::index,
                        loop_ir::apply(Function::divide, {rounded, loop_ir::integer(blocks.parts)})}));
  const std::string part = facts_.fresh(letter + "_part");
  auto begin =
      loop_ir::add(loop_ir::name(first), loop_ir::multiply(loop_ir::name(part), loop_ir::name(size)));
  auto end = loop_ir::minimum(loop_ir::add(begin, loop_ir::name(size)), all.end);
  // A task runs the parts of blocks that lie in its range.
  if (&blocks == facts_.outermost) {
    begin = loop_ir::apply(Function::maximum, {begin, loop_ir::range_begin()});
    end = loop_ir::minimum(end, loop_ir::range_end());
  }
  Statements inside;
  body(inner, inside);
  const auto some = loop_ir::apply(Function::less, {loop_ir::name(open.begin), loop_ir::name(open.end)});
  out.push_back(
      make(loop_ir::For{part, loop_ir::integer(0), loop_ir::integer(blocks.parts), Shape::scalar,
                        loop_ir::block({make(loop_ir::Let{open.begin, loop_ir::Type::index, begin}),
                                        make(loop_ir::Let{open.end, loop_ir::Type::index, end}),
                                        make(loop_ir::If{some, loop_ir::block(std::move(inside))})})}));
}

}  // namespace schaas::lower

// Loops over one index: a dense range, the positions of one compressed level, or the intersection of several.
#include <utility>

#include "compiler/lower/emitter.h"

namespace schaas::lower {

using format::LevelFormat;
using loop_ir::make;
using loop_ir::Shape;

merge_lattice::MergePoint Emitter::merge_point(int index, const NestPtr& body) const {
  std::vector<merge_lattice::LevelAccess> levels;
  for (const int number : factors_below(body)) {
    const int level = level_of(operand(number), index);
    if (level >= 0)
      levels.push_back({number, level, tensor_of(number).levels[static_cast<std::size_t>(level)]});
  }
  return merge_lattice::intersect(levels);
}

/// Innermost loops whose operands all advance by one element, or not at all, become vector code.
Shape Emitter::chain_shape(const Loop& loop, const Scope& scope) const {
  if (loop.lanes) return Shape::lanes;
  if (loop.block && scope.blocks.at(loop.index).walked) return Shape::scalar;
  const auto* leaf = std::get_if<Leaf>(&loop.body->node);
  if (!leaf || lanes_ > 0) return Shape::scalar;
  std::vector<int> operands = leaf->factors;
  operands.push_back(leaf->target);
  for (const int number : operands) {
    const int level = level_of(operand(number), loop.index);
    const auto& levels = tensor_of(number).levels;
    if (level < 0) continue;
    if (level + 1 != static_cast<int>(levels.size()) || levels.back() != LevelFormat::dense)
      return Shape::scalar;
  }
  return Shape::simd;
}

void Emitter::emit_loop(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                        const Body& body) {
  if (loop.block) return emit_block_loop(loop, scope, shape, out, body);
  const auto point = merge_point(loop.index, loop.body);
  const std::string letter = Names::base(tree_.index_names[static_cast<std::size_t>(loop.index)], "x");
  if (point.iterated.size() > 1) return emit_merge(loop, point, scope, out, body);
  lanes_ += shape == Shape::lanes ? 1 : 0;
  if (point.iterated.empty()) {
    const std::string variable = builder_.names().fresh(letter);
    const bool ranged = &loop == outermost_;
    const auto begin = ranged ? loop_ir::name("begin") : loop_ir::integer(0);
    const auto end = ranged ? loop_ir::name("end") : builder_.extent(loop.index);
    out.push_back(
        make(loop_ir::For{variable, begin, end, shape, loop_body(loop, scope, variable, {}, body)}));
  } else {
    auto walk = cursor(point.iterated.front(), letter, scope);
    if (&loop == outermost_) {
      walk.begin = loop_ir::name("begin");
      walk.end = loop_ir::name("end");
    }
    Scope inner = scope;
    const auto& walked = point.iterated.front();
    auto& position = inner.positions[static_cast<std::size_t>(walked.operand)];
    position.bound[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.position);
    const std::string coordinate = builder_.names().fresh(letter);
    Statements statements;
    statements.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index,
                                           loop_ir::load(walk.coordinates, loop_ir::name(walk.position))}));
    const auto inside = loop_body(loop, std::move(inner), coordinate, std::move(statements), body);
    out.push_back(make(loop_ir::For{walk.position, walk.begin, walk.end, shape, inside}));
  }
  lanes_ -= shape == Shape::lanes ? 1 : 0;
}

/// `body` once per block; what is walked is walked in steps of its size.
void Emitter::emit_blocks(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body) {
  const auto point = merge_point(blocks.index, blocks.body);
  SCHAAS_CHECK(point.iterated.size() <= 1, "blocks of a merged index");
  const std::string letter = Names::base(tree_.index_names[static_cast<std::size_t>(blocks.index)], "x");
  auto begin = loop_ir::integer(0);
  auto end = point.iterated.empty() ? builder_.extent(blocks.index) : nullptr;
  OpenBlock open;
  if (!point.iterated.empty()) {
    open.walked = point.iterated.front();
    const auto walk = cursor(*open.walked, letter, scope);
    begin = walk.begin;
    end = walk.end;
  }
  if (&blocks == outermost_) {
    begin = loop_ir::name("begin");
    end = loop_ir::name("end");
  }
  open.begin = builder_.names().fresh(letter + "_block");
  open.end = builder_.names().fresh(letter + "_block_end");
  const auto next = loop_ir::add(loop_ir::name(open.begin), loop_ir::integer(blocks.size));
  Statements statements;
  statements.push_back(make(loop_ir::Let{open.end, loop_ir::Type::index, loop_ir::minimum(next, end)}));
  Scope inner = scope;
  inner.blocks[blocks.index] = open;
  body(inner, statements);
  out.push_back(make(loop_ir::For{open.begin, begin, end, Shape::scalar,
                                  loop_ir::block(std::move(statements)), blocks.size}));
}

/// The values of the present block. Temporaries that hold one block are indexed from its beginning.
void Emitter::emit_block_loop(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                              const Body& body) {
  const OpenBlock& open = scope.blocks.at(loop.index);
  const std::string letter = Names::base(tree_.index_names[static_cast<std::size_t>(loop.index)], "x");
  const std::string variable = builder_.names().fresh((open.walked ? "p" : "") + letter);
  const auto place = loop_ir::add(loop_ir::name(variable),
                                  loop_ir::multiply(loop_ir::integer(-1), loop_ir::name(open.begin)));
  Scope inner = scope;
  for (const int number : operands_below(loop.body)) {
    const int level = level_of(operand(number), loop.index);
    if (level < 0 || tensor_of(number).blocks.count(loop.index) == 0) continue;
    inner.positions[static_cast<std::size_t>(number)].bound[static_cast<std::size_t>(level)] = place;
  }
  std::string coordinate = variable;
  Statements statements;
  if (open.walked) {
    const auto& walked = *open.walked;
    inner.positions[static_cast<std::size_t>(walked.operand)].bound[static_cast<std::size_t>(walked.level)] =
        loop_ir::name(variable);
    coordinate = builder_.names().fresh(letter);
    const std::string coordinates = builder_.coordinates(operand(walked.operand).tensor, walked.level);
    statements.push_back(make(
        loop_ir::Let{coordinate, loop_ir::Type::index, loop_ir::load(coordinates, loop_ir::name(variable))}));
  }
  lanes_ += shape == Shape::lanes ? 1 : 0;
  const auto inside = loop_body(loop, std::move(inner), coordinate, std::move(statements), body);
  out.push_back(
      make(loop_ir::For{variable, loop_ir::name(open.begin), loop_ir::name(open.end), shape, inside}));
  lanes_ -= shape == Shape::lanes ? 1 : 0;
}

void Emitter::emit_merge(const Loop& loop, const merge_lattice::MergePoint& point, const Scope& scope,
                         Statements& out, const Body& body) {
  const std::string letter = Names::base(tree_.index_names[static_cast<std::size_t>(loop.index)], "x");
  loop_ir::Merge merge;
  Scope inner = scope;
  for (const auto& walked : point.iterated) {
    auto walk = cursor(walked, letter, scope);
    if (&loop == outermost_) {
      if (merge.cursors.empty()) {
        walk.begin = loop_ir::name("begin");
        walk.end = loop_ir::name("end");
      } else {
        const auto& first = merge.cursors.front();
        walk.begin = loop_ir::search(walk.coordinates, walk.begin, walk.end,
                                     loop_ir::load(first.coordinates, first.begin));
      }
    }
    inner.positions[static_cast<std::size_t>(walked.operand)].bound[static_cast<std::size_t>(walked.level)] =
        loop_ir::name(walk.position);
    merge.cursors.push_back(std::move(walk));
  }
  merge.variable = builder_.names().fresh(letter);
  merge.body = loop_body(loop, std::move(inner), merge.variable, {}, body);
  out.push_back(make(std::move(merge)));
}

loop_ir::Cursor Emitter::cursor(const merge_lattice::LevelAccess& access, const std::string& wish,
                                const Scope& scope) {
  const int tensor = operand(access.operand).tensor;
  const auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, tensor_of(access.operand), access.level),
               "level " + std::to_string(access.level) + " of `" + tensor_of(access.operand).name +
                   "` is reached before the levels above it");
  const auto parent = location(position);
  const std::string positions = builder_.positions(tensor, access.level);
  return loop_ir::Cursor{builder_.names().fresh("p" + wish), builder_.coordinates(tensor, access.level),
                         loop_ir::load(positions, parent),
                         loop_ir::load(positions, loop_ir::add(parent, loop_ir::integer(1)))};
}

/// Binds the coordinate for everything below that locates it and fills the body.
loop_ir::StatementPtr Emitter::loop_body(const Loop& loop, Scope inner, const std::string& coordinate,
                                         Statements statements, const Body& body) {
  const auto below = operands_below(loop.body);
  for (const int number : below) {
    const int level = level_of(operand(number), loop.index);
    if (level < 0) continue;
    auto& bound = inner.positions[static_cast<std::size_t>(number)].bound[static_cast<std::size_t>(level)];
    if (!bound) bound = loop_ir::name(coordinate);
  }
  settle_all(below, inner, statements);
  body(inner, statements);
  return loop_ir::block(std::move(statements));
}

}  // namespace schaas::lower

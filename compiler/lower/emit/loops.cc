#include <algorithm>
#include <utility>

#include "compiler/lower/emit/emitter.h"

// Loops over one index: a dense range, the positions of one sparse level, or the coiteration of several.
// Levels with repeated coordinates are walked by ranges of equal coordinates; locating levels are tested at
// each coordinate. The outermost loop of a phase takes its bounds from the task, a loop inside blocks from
// the block. Loops over a range of entries are cut at both ends of that range. A body is filled once for
// each loop, after the coordinate is bound and the positions that it completes are known.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Shape;
using merge_lattice::Formula;

namespace {

/// Returns the offset of a value in its block.
ExpressionPtr offset_in(const OpenBlock& block, const std::string& value) {
  return loop_ir::add(loop_ir::name(value),
                      loop_ir::multiply(loop_ir::integer(-1), loop_ir::name(block.begin)));
}

Formula any_held(const std::vector<merge_lattice::LevelAccess>& levels) {
  std::vector<Formula> parts;
  for (const auto& level : levels) parts.push_back(merge_lattice::held(level));
  return merge_lattice::united(parts);
}

}  // namespace

/// Innermost loops whose operands advance by one element, or not at all, become vector code.
Shape Emitter::chain_shape(const Loop& loop, const Scope& scope) const {
  if (loop.vector) return Shape::vector;
  if (loop.block && scope.blocks.at(loop.index).walked) return Shape::scalar;
  const auto* leaf = std::get_if<Leaf>(&loop.body->node);
  if (!leaf || vector_depth_ > 0 || tracks(leaf->target) || loop.annotation.unroll > 1) return Shape::scalar;
  if (is_interleaved(loop, mapped_)) return Shape::scalar;
  const bool writes = level_of(operand(leaf->target), loop.index) >= 0;
  if (writes && operand(leaf->target).tensor == atomic_) return Shape::scalar;
  std::vector<int> operands = leaf->factors;
  operands.push_back(leaf->target);
  for (const int number : operands) {
    const int level = level_of(operand(number), loop.index);
    const auto& levels = tensor_of(number).levels;
    if (level < 0) continue;
    const bool next = levels.back() == LevelFormat::dense || runs_over_band(number, loop);
    if (level + 1 != static_cast<int>(levels.size()) || !next) return Shape::scalar;
    if (position_of(number, scope).present) return Shape::scalar;
  }
  return Shape::simd;
}

/// Emits a loop whose body also does what its level of the target needs: clearing, appending, tests of
/// flags, counters, from the inside out.
void Emitter::emit_loop(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                        const Body& body) {
  const Body inside = where_entries_are_made(loop, body);
  const Body whole = with_counters(loop, with_flag(loop, with_append(loop, with_clearing(loop, inside))));
  const bool finds = &loop == mapped_.columns || (&loop == outermost_ && mapped_.columns == nullptr);
  const Loop& rows = mapped_.columns != nullptr ? *mapped_.rows : loop;
  if (finds && rows.annotation.positions > 0) entry_ranges_ = find_entry_ranges(rows, out);
  open_rows(loop, out);
  emit_over(loop, scope, shape, out, &loop == mapped_.columns ? with_deferred(whole) : whole);
  if (const auto* emitted = loop_ir::as<loop_ir::For>(out.back()))
    builder_.note_loop(loop, emitted->variable);
  if (is_interleaved(loop, mapped_)) out.back() = interleaved(out.back());
}

/// Guards the body of a loop that visits everything for the sake of the result's positions.
Emitter::Body Emitter::where_entries_are_made(const Loop& loop, const Body& body) {
  const auto holds = loop_space(loop.body, loop.index, tree_).makes_entries;
  if (!holds || loop.block) return body;
  return [this, body, holds](Scope& scope, Statements& out) {
    const auto levels = merge_lattice::levels_of(*holds);
    const auto position = [](Scope& at, const merge_lattice::LevelAccess& level) -> Position& {
      return at.positions[static_cast<std::size_t>(level.operand)];
    };
    if (!std::all_of(levels.begin(), levels.end(),
                     [&](const auto& level) { return position(scope, level).present != nullptr; }))
      return body(scope, out);
    Scope inner = scope;
    for (const auto& level : levels)
      if (implies(*holds, level)) position(inner, level).present = nullptr;
    Statements inside;
    body(inner, inside);
    out.push_back(make(loop_ir::If{holding(*holds, scope), loop_ir::block(std::move(inside))}));
  };
}

void Emitter::emit_over(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                        const Body& whole) {
  if (loop.block) return emit_block_loop(loop, scope, shape, out, whole);
  if (emit_list_loop(loop, scope, out, whole)) return;
  const LoopSpace space = loop_space(loop.body, loop.index, tree_);
  switch (space.kind) {
    case LoopSpace::Kind::range:
      return emit_range(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::band:
      return emit_band(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::table:
      return emit_hashed(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::walk:
      if (!format::is_unique(level_format(space.cursors.front())))
        return emit_merge(loop, space, scope, out, whole);
      return emit_walk(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::intersection:
    case LoopSpace::Kind::merge:
      return emit_merge(loop, space, scope, out, whole);
  }
}

/// Emits a loop over coordinates. The outer one of two collapsed loops passes its value to the inner one's
/// bounds.
void Emitter::emit_range(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                         Statements& out, const Body& body) {
  vector_depth_ += shape == Shape::vector ? 1 : 0;
  const std::string variable = builder_.names().fresh(letter_of(loop.index));
  const auto bounds = bounds_of(loop, scope);
  Scope inner = scope;
  open_bands(space, inner, out);
  if (&loop == outermost_) {
    inner.iteration = variable;
    if (loop.annotation.collapsed) {
      inner.row = variable;
      inner.inner_of_pair = &std::get<Loop>(loop.body->node);
    }
  }
  const auto inside = loop_body(loop, space, std::move(inner), variable, {}, body);
  out.push_back(
      make(loop_ir::For{variable, bounds.begin, bounds.end, shape, inside, 1, loop.annotation.unroll}));
  vector_depth_ -= shape == Shape::vector ? 1 : 0;
}

/// Returns the range of the loop; collapsed loops count pairs of values.
loop_ir::Range Emitter::bounds_of(const Loop& loop, const Scope& scope) {
  const auto whole = builder_.extent(loop.index);
  const auto begin = loop_ir::range_begin(), end = loop_ir::range_end();
  using operators::Function;
  if (&loop == outermost_ && loop.annotation.collapsed) {
    const auto row = builder_.extent(std::get<Loop>(loop.body->node).index);
    // Pairs are numbered row by row; a task may begin and end within a row.
    const auto past = loop_ir::add(end, loop_ir::add(row, loop_ir::integer(-1)));
    return {loop_ir::apply(Function::divide, {begin, row}), loop_ir::apply(Function::divide, {past, row})};
  }
  if (&loop == mapped_.columns) return {loop_ir::column_begin(), loop_ir::column_end()};
  if (&loop == outermost_)
    return entry_ranges_.operand >= 0 ? entry_ranges_.levels.front() : loop_ir::Range{begin, end};
  if (!scope.row.empty() && scope.inner_of_pair == &loop) {
    // Only the first and the last row of a task are cut.
    const auto before = loop_ir::multiply(loop_ir::name(scope.row), whole);
    const auto from = loop_ir::subtract(begin, before);
    const auto to = loop_ir::subtract(end, before);
    return {loop_ir::apply(Function::maximum, {from, loop_ir::integer(0)}), loop_ir::minimum(to, whole)};
  }
  return {loop_ir::integer(0), whole};
}

/// Returns the operand whose entries the loop and those inside walk together (LoopAnnotation::positions).
/// Vector loops may stand between them.
int Emitter::operand_at(const Loop& loop) const {
  std::vector<int> indices;
  const Loop* at = &loop;
  while (at != nullptr && static_cast<int>(indices.size()) < loop.annotation.positions) {
    if (!at->vector) indices.push_back(at->index);
    at = std::get_if<Loop>(&at->body->node);
  }
  for (const int number : factors_below(loop.body, tree_)) {
    const auto& use = operand(number).indices;
    if (use.size() >= indices.size() && std::equal(indices.begin(), indices.end(), use.begin()) &&
        tensor_of(number).levels[indices.size() - 1] == LevelFormat::compressed)
      return number;
  }
  SCHAAS_CHECK(false, "positions of nothing");
}

/// Computes the ranges upwards from the last level, whose entries the phase counts. Entries of a level have
/// as parents those from the last one that begins no later to the first one that ends no sooner. The single
/// entry of a thread has one parent; several are searched from there on.
EntryRanges Emitter::find_entry_ranges(const Loop& loop, Statements& out) {
  using operators::Function;
  EntryRanges ranges{operand_at(loop),
                     std::vector<loop_ir::Range>(static_cast<std::size_t>(loop.annotation.positions))};
  const Operand& walked = operand(ranges.operand);
  ranges.levels.back() = {loop_ir::range_begin(), loop_ir::range_end()};
  const auto named = [&](const ExpressionPtr& value) {
    const std::string text = builder_.names().fresh("o");
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::index, value}));
    return loop_ir::name(text);
  };
  const bool single = mapped_.rows != nullptr && mapped_.mapping.grain == 1;
  for (int level = loop.annotation.positions - 1; level > 0; --level) {
    const auto& below = ranges.levels[static_cast<std::size_t>(level)];
    const std::string ends = builder_.positions(walked.tensor, level);
    const auto all = builder_.entries(walked, level - 1);
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

/// Threads of a GPU take ranges of entries, and rows of the target are the rows that the entries are of.
bool Emitter::cuts_rows(const merge_lattice::LevelAccess& walked) const {
  if (!for_gpu_ || mapped_.rows == nullptr || mapped_.mapping.grain == 1) return false;
  const int target = target_of(mapped_.rows->body);
  const Tensor& result = tensor_of(target);
  return mapped_.rows->annotation.positions == 2 && walked.operand == entry_ranges_.operand &&
         walked.level == 1 && level_of(operand(target), operand(walked.operand).indices[0]) >= 0 &&
         !result.temporary() && result.fill == 0 && monoid_of(mapped_.rows->body) == operators::Monoid::sum &&
         !adds_terms_ && !tree_.update;
}

/// Emits a loop over the entries of one list; binds the coordinate of each.
void Emitter::emit_walk(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                        Statements& out, const Body& body) {
  vector_depth_ += shape == Shape::vector ? 1 : 0;
  const std::string letter = letter_of(loop.index);
  const auto& walked = space.cursors.front();
  auto walk = cursor(walked, letter, scope);
  Scope inner = scope;
  open_bands(space, inner, out);
  if (&loop == outermost_) {
    if (entry_ranges_.operand < 0) {
      walk.begin = loop_ir::range_begin();
      walk.end = loop_ir::range_end();
    }
    inner.iteration = walk.position;
  }
  auto& position = inner.positions[static_cast<std::size_t>(walked.operand)];
  position.bound[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.position);
  const std::string coordinate = builder_.names().fresh(letter);
  if (loop.block) {
    const OpenBlock& block = scope.blocks.at(loop.index);
    // The entries of a block of coordinates are found by binary search.
    walk.begin = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block.begin));
    walk.end = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block.end));
    bind_block(loop, offset_in(block, coordinate), inner);
  }
  Statements statements;
  statements.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index,
                                         loop_ir::load(walk.coordinates, loop_ir::name(walk.position))}));
  const auto inside = loop_body(loop, space, std::move(inner), coordinate, std::move(statements), body);
  loop_ir::For entries{walk.position, walk.begin, walk.end, shape, inside, 1, loop.annotation.unroll};
  entries.entries = walk.coordinates;
  entries.cut = cuts_rows(walked);
  // Ascending coordinates may occupy a sparse accumulator by groups.
  if (shape == Shape::scalar && &loop != outermost_ && format::is_ordered(level_format(walked))) {
    builder_.note_loop(loop, entries.variable);
    emit_occupy(entries, walk.coordinates, coordinate, out);
  } else {
    out.push_back(make(entries));
  }
  vector_depth_ -= shape == Shape::vector ? 1 : 0;
}

/// Opens the values or positions that blocks are taken from, with names for the bounds of the present block.
loop_ir::Range Emitter::open_blocks(const Blocks& blocks, Scope& scope) {
  const LoopSpace space = loop_space(blocks.body, blocks.index, tree_);
  const std::string letter = letter_of(blocks.index);
  loop_ir::Range all{loop_ir::integer(0), nullptr};
  OpenBlock open;
  if (space.kind == LoopSpace::Kind::walk) {
    open.walked = space.cursors.front();
    const auto walk = cursor(*open.walked, letter, scope);
    all = {walk.begin, walk.end};
  } else {
    all.end = builder_.extent(blocks.index);
  }
  open.begin = builder_.names().fresh(letter + "_block");
  open.end = builder_.names().fresh(letter + "_block_end");
  scope.blocks[blocks.index] = open;
  return all;
}

/// Emits `body` once per block; walked lists advance by the block size.
void Emitter::emit_blocks(const Blocks& blocks, const Scope& scope, Statements& out, const Body& body) {
  Scope inner = scope;
  auto all = open_blocks(blocks, inner);
  if (blocks.parts > 0) return emit_divided(blocks, inner, all, out, body);
  if (&blocks == outermost_) all = {loop_ir::range_begin(), loop_ir::range_end()};
  const OpenBlock open = inner.blocks.at(blocks.index);
  const auto next = loop_ir::add(loop_ir::name(open.begin), loop_ir::integer(blocks.size));
  Statements statements;
  statements.push_back(make(loop_ir::Let{open.end, loop_ir::Type::index, loop_ir::minimum(next, all.end)}));
  body(inner, statements);
  out.push_back(make(loop_ir::For{open.begin, all.begin, all.end, Shape::scalar,
                                  loop_ir::block(std::move(statements)), blocks.size}));
}

/// Emits a number of blocks of equal length over `all` values; the range of a phase holds some of them.
void Emitter::emit_divided(const Blocks& blocks, Scope& inner, const loop_ir::Range& all, Statements& out,
                           const Body& body) {
  using operators::Function;
  const OpenBlock open = inner.blocks.at(blocks.index);
  const std::string letter = letter_of(blocks.index);
  const std::string first = builder_.names().fresh("o"), size = builder_.names().fresh("n");
  const auto count = loop_ir::subtract(all.end, loop_ir::name(first));
  // Rounded up: the last blocks may be shorter, or empty.
  const auto rounded = loop_ir::add(count, loop_ir::integer(blocks.parts - 1));
  out.push_back(make(loop_ir::Let{first, loop_ir::Type::index, all.begin}));
  out.push_back(
      make(loop_ir::Let{size, loop_ir::Type::index,
                        loop_ir::apply(Function::divide, {rounded, loop_ir::integer(blocks.parts)})}));
  const std::string part = builder_.names().fresh(letter + "_part");
  auto begin =
      loop_ir::add(loop_ir::name(first), loop_ir::multiply(loop_ir::name(part), loop_ir::name(size)));
  auto end = loop_ir::minimum(loop_ir::add(begin, loop_ir::name(size)), all.end);
  // A task runs the parts of blocks that lie in its range.
  if (&blocks == outermost_) {
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

/// Binds temporaries that hold one block at `offset` in it.
void Emitter::bind_block(const Loop& loop, const ExpressionPtr& offset, Scope& scope) const {
  for (const int number : operands_below(loop.body, tree_)) {
    const int level = level_of(operand(number), loop.index);
    if (level < 0 || tensor_of(number).blocks.count(loop.index) == 0) continue;
    scope.positions[static_cast<std::size_t>(number)].bound[static_cast<std::size_t>(level)] = offset;
  }
}

/// Emits a loop over the values of the present block. Temporaries that hold one block are indexed from its
/// beginning.
void Emitter::emit_block_loop(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                              const Body& body) {
  const OpenBlock& open = scope.blocks.at(loop.index);
  const LoopSpace space = loop_space(loop.body, loop.index, tree_);
  if (!open.walked && space.kind == LoopSpace::Kind::walk)
    return emit_walk(loop, space, scope, shape, out, body);
  if (!open.walked && space.kind != LoopSpace::Kind::range) return emit_merge(loop, space, scope, out, body);
  const std::string letter = letter_of(loop.index);
  const std::string variable = builder_.names().fresh((open.walked ? "p" : "") + letter);
  Scope inner = scope;
  bind_block(loop, offset_in(open, variable), inner);
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
  vector_depth_ += shape == Shape::vector ? 1 : 0;
  const auto inside = loop_body(loop, {}, std::move(inner), coordinate, std::move(statements), body);
  out.push_back(make(loop_ir::For{variable, loop_ir::name(open.begin), loop_ir::name(open.end), shape, inside,
                                  1, loop.annotation.unroll}));
  vector_depth_ -= shape == Shape::vector ? 1 : 0;
}

/// Emits a merge: coordinates that all cursors hold (intersection), that any holds, or all with presence
/// flags (merge). A phase's outermost merge begins at an entry of the first cursor, or at a coordinate.
void Emitter::emit_merge(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
                         const Body& body) {
  const std::string letter = letter_of(loop.index);
  const bool intersects = space.kind != LoopSpace::Kind::merge;
  const bool ranged = &loop == outermost_;
  const OpenBlock* block = loop.block ? &scope.blocks.at(loop.index) : nullptr;
  loop_ir::Merge merge;
  merge.kind = intersects ? loop_ir::MergeKind::all : loop_ir::MergeKind::any;
  Scope inner = scope;
  open_bands(space, inner, out);
  for (const auto& walked : space.cursors) {
    auto walk = cursor(walked, letter, inner);
    const bool unique = format::is_unique(level_format(walked));
    if (block != nullptr) {
      walk.begin = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block->begin));
      // The range of a union ends it; lists end an intersection.
      if (intersects)
        walk.end = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block->end));
    } else if (ranged && intersects && merge.cursors.empty()) {
      walk.begin = unique ? loop_ir::range_begin() : first_range(loop_ir::range_names[0], walk);
      walk.end = unique ? loop_ir::range_end() : first_range(loop_ir::range_names[1], walk);
      inner.iteration = walk.position;
    } else if (ranged) {
      // The other lists begin where the first one does, or at the first coordinate of the range.
      const auto from = intersects ? loop_ir::load(merge.cursors.front().coordinates, loop_ir::range_begin())
                                   : loop_ir::range_begin();
      walk.begin = walk.coordinates.empty() ? loop_ir::apply(operators::Function::maximum, {walk.begin, from})
                                            : loop_ir::search(walk.coordinates, walk.begin, walk.end, from);
    }
    auto& position = inner.positions[static_cast<std::size_t>(walked.operand)];
    if (walk.coordinates.empty())
      position.shift[static_cast<std::size_t>(walked.level)] =
          inner.bands.at({walked.operand, walked.level}).shift;
    position.bound[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.position);
    if (!unique) {
      walk.until = builder_.names().fresh("o");
      position.until[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.until);
    }
    if (!intersects) {
      walk.present = builder_.names().fresh("has");
      position.present = loop_ir::name(walk.present);
    }
    merge.cursors.push_back(std::move(walk));
  }
  merge.variable = builder_.names().fresh(letter);
  if (block != nullptr) {
    bind_block(loop, offset_in(*block, merge.variable), inner);
    if (!intersects) merge.over = loop_ir::Range{loop_ir::name(block->begin), loop_ir::name(block->end)};
  } else if (!intersects && ranged) {
    inner.iteration = merge.variable;
    merge.over = loop_ir::Range{loop_ir::range_begin(), loop_ir::range_end()};
  } else if (space.whole) {
    merge.over = loop_ir::Range{loop_ir::integer(0), builder_.extent(loop.index)};
  }
  LoopSpace guarded = space;
  // A range also visits coordinates that no list holds.
  if ((ranged || block != nullptr) && !intersects && !space.whole && !guarded.condition)
    guarded.condition = any_held(space.cursors);
  merge.body = loop_body(loop, guarded, std::move(inner), merge.variable, {}, body);
  out.push_back(make(std::move(merge)));
}

/// Returns the first range of equal coordinates that begins at or after a bound of the phase's range. It
/// belongs to the task in which it begins.
ExpressionPtr Emitter::first_range(const std::string& border, const loop_ir::Cursor& list) {
  const auto at = loop_ir::name(border);
  const auto before = loop_ir::load(list.coordinates, loop_ir::add(at, loop_ir::integer(-1)));
  const auto next =
      loop_ir::search(list.coordinates, at, list.end, loop_ir::add(before, loop_ir::integer(1)));
  return loop_ir::choose(loop_ir::apply(operators::Function::less, {loop_ir::integer(0), at}), next, at);
}

format::LevelFormat Emitter::level_format(const merge_lattice::LevelAccess& access) const {
  return tensor_of(access.operand).levels[static_cast<std::size_t>(access.level)];
}

/// Translates the formula into presence flags.
ExpressionPtr Emitter::holding(const Formula& formula, const Scope& scope) const {
  if (formula.kind == Formula::Kind::level)
    return scope.positions[static_cast<std::size_t>(formula.level.operand)].present;
  const auto function = formula.kind == Formula::Kind::intersection ? operators::Function::logical_and
                                                                    : operators::Function::logical_or;
  ExpressionPtr all;
  for (const auto& part : formula.parts) {
    auto next = holding(part, scope);
    all = all ? loop_ir::apply(function, {std::move(all), std::move(next)}) : std::move(next);
  }
  SCHAAS_CHECK(all, "a condition that says nothing");
  return all;
}

/// Returns the list of a level below the present position, cut to what the task walks.
loop_ir::Cursor Emitter::cursor(const merge_lattice::LevelAccess& access, const std::string& preferred,
                                const Scope& scope) {
  const int tensor = operand(access.operand).tensor;
  const auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, tensor_of(access.operand), access.level),
               "level " + std::to_string(access.level) + " of `" + tensor_of(access.operand).name +
                   "` is reached before the levels above it");
  if (level_format(access) == LevelFormat::banded) {
    const Band& band = scope.bands.at({access.operand, access.level});
    return loop_ir::Cursor{builder_.names().fresh("p" + preferred), "", band.first, band.end};
  }
  const auto parent = location(position);
  auto begin = parent;
  ExpressionPtr end;
  // A partial result has positions [first, last) of the split iteration.
  if (split_level_ && split_level_->operand == access.operand && split_level_->level == access.level) {
    begin = loop_ir::name("first");
    end = loop_ir::name("last");
  } else if (format::is_singleton(level_format(access))) {
    end = position.until[static_cast<std::size_t>(access.level - 1)];
    SCHAAS_CHECK(end, "a singleton level below one whose range is unknown");
  } else {
    const std::string positions = builder_.positions(tensor, access.level);
    begin = loop_ir::load(positions, parent);
    end = loop_ir::load(positions, loop_ir::add(parent, loop_ir::integer(1)));
  }
  // The first and the last parent of a range of entries may have entries outside of it.
  if (access.operand == entry_ranges_.operand &&
      static_cast<std::size_t>(access.level) < entry_ranges_.levels.size()) {
    const auto& share = entry_ranges_.levels[static_cast<std::size_t>(access.level)];
    begin = access.level == 0 ? share.begin
                              : loop_ir::apply(operators::Function::maximum, {std::move(begin), share.begin});
    end = access.level == 0 ? share.end : loop_ir::minimum(std::move(end), share.end);
  }
  if (position.present) {  // an absent operand has no entries
    begin = loop_ir::choose(position.present, std::move(begin), loop_ir::integer(0));
    end = loop_ir::choose(position.present, std::move(end), loop_ir::integer(0));
  }
  return loop_ir::Cursor{builder_.names().fresh("p" + preferred), builder_.coordinates(tensor, access.level),
                         std::move(begin), std::move(end)};
}

/// Locates the coordinate, binds it for everything below and fills the body.
loop_ir::StatementPtr Emitter::loop_body(const Loop& loop, const LoopSpace& space, Scope inner,
                                         const std::string& coordinate, Statements statements,
                                         const Body& body) {
  for (const auto& access : space.located) locate(access, coordinate, inner, statements);
  if (!space.condition) {
    bind(loop, coordinate, inner, statements);
    body(inner, statements);
    return loop_ir::block(std::move(statements));
  }
  const auto holds = holding(*space.condition, inner);
  for (const auto& access : space.located) {
    // Under the condition these levels hold the coordinate; their values need no test.
    if (implies(*space.condition, access))
      inner.positions[static_cast<std::size_t>(access.operand)].present = nullptr;
  }
  Statements inside;
  bind(loop, coordinate, inner, inside);
  body(inner, inside);
  statements.push_back(make(loop_ir::If{holds, loop_ir::block(std::move(inside))}));
  return loop_ir::block(std::move(statements));
}

/// Binds the coordinate in the dense levels of all operands below, then where an operand has the index
/// twice.
void Emitter::bind(const Loop& loop, const std::string& coordinate, Scope& scope, Statements& out) {
  scope.coordinates[loop.index] = coordinate;
  const auto below = operands_below(loop.body, tree_);
  for (const int number : below) {
    const auto& use = operand(number);
    if (use.located_by >= 0) continue;
    auto& bound = scope.positions[static_cast<std::size_t>(number)].bound;
    for (std::size_t level = 0; level < use.indices.size(); ++level) {
      if (use.indices[level] == loop.index && !bound[level] &&
          tensor_of(number).levels[level] == LevelFormat::dense)
        bound[level] = loop_ir::name(coordinate);
    }
  }
  resolve_all(below, scope, out);
  for (const int number : factors_below(loop.body, tree_))
    search_diagonal(number, loop.index, coordinate, scope, out);
}

/// Searches the entry of a sparse level that binds an index a second time, as in A(i,i).
void Emitter::search_diagonal(int number, int index, const std::string& coordinate, Scope& scope,
                              Statements& out) {
  const auto& use = operand(number);
  for (int level = 0; level < static_cast<int>(use.indices.size()); ++level) {
    auto& position = scope.positions[static_cast<std::size_t>(number)];
    const auto at = static_cast<std::size_t>(level);
    if (use.indices[at] != index || position.bound[at] || !reached(position, tensor_of(number), level))
      continue;
    if (format::is_located(level_format({number, level}))) {
      locate({number, level}, coordinate, scope, out);
      resolve(position, use, tensor_of(number), builder_, out);
      continue;
    }
    const auto list = cursor({number, level}, letter_of(index), scope);
    const std::string end = builder_.names().fresh("o");
    out.push_back(make(loop_ir::Let{end, loop_ir::Type::index, list.end}));
    const auto key = loop_ir::name(coordinate);
    out.push_back(make(loop_ir::Let{list.position, loop_ir::Type::index,
                                    loop_ir::search(list.coordinates, list.begin, loop_ir::name(end), key)}));
    const auto at_key = loop_ir::name(list.position);
    const auto inside = loop_ir::apply(operators::Function::less, {at_key, loop_ir::name(end)});
    const auto same =
        loop_ir::apply(operators::Function::equal, {loop_ir::load(list.coordinates, at_key), key});
    const auto found = loop_ir::apply(operators::Function::logical_and, {inside, same});
    const std::string present = builder_.names().fresh("has");
    out.push_back(make(loop_ir::Let{present, loop_ir::Type::index, found}));
    position.bound[at] = at_key;
    position.present = loop_ir::name(present);
    if (!format::is_unique(level_format({number, level})))
      position.until[at] = loop_ir::search(list.coordinates, at_key, loop_ir::name(end),
                                           loop_ir::add(key, loop_ir::integer(1)));
    resolve(position, use, tensor_of(number), builder_, out);
  }
}

}  // namespace schaas::lower

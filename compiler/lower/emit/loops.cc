#include "compiler/lower/emit/loops.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/loop_ir/map_expressions.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/lower/emit/levels/entry_ranges.h"

// Loops over one index: a dense range, the positions of one sparse level, or the coiteration of several
// (merge_loops.cc). The outermost loop of a phase takes its bounds from the task, a loop inside blocks from
// the block. A loop over the intersection of bands is a range. A body is filled once for each loop, after the
// coordinate is bound and the positions that it completes are known.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Shape;
using operators::Function;

namespace {

bool has_loops(const NestPtr& nest) {
  return std::visit(
      loop_ir::Match{
          [](const Loop&) { return true; },
          [](const Blocks&) { return true; },
          [](const Branch& branch) { return has_loops(branch.producer) || has_loops(branch.consumer); },
          [](const Terms& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has_loops); },
          [](const Leaf&) { return false; },
      },
      nest->node);
}

/// Some loop below has one value.
bool has_values(const NestPtr& nest) {
  return std::visit(
      loop_ir::Match{
          [](const Loop& loop) { return loop.value.has_value() || has_values(loop.body); },
          [](const Blocks& blocks) { return has_values(blocks.body); },
          [](const Branch& branch) { return has_values(branch.producer) || has_values(branch.consumer); },
          [](const Terms& sum) { return std::any_of(sum.terms.begin(), sum.terms.end(), has_values); },
          [](const Leaf&) { return false; },
      },
      nest->node);
}

/// Returns the leaf below the loop and below loops with one value, or null where there are others.
const Leaf* innermost_leaf(const Loop& loop) {
  const NestPtr* at = &loop.body;
  for (const Loop* inner = nullptr; (inner = std::get_if<Loop>(&(*at)->node)) != nullptr && inner->value;)
    at = &inner->body;
  return std::get_if<Leaf>(&(*at)->node);
}

/// Loops that the nest begins with, where it has some, are vector loops around sums.
bool begins_with_sums(const NestPtr& nest) {
  return std::visit(
      loop_ir::Match{
          [](const Loop& loop) { return loop.vector && has_loops(loop.body) && !has_values(loop.body); },
          [](const Blocks&) { return false; },
          [](const Branch& branch) {
            return begins_with_sums(branch.producer) && begins_with_sums(branch.consumer);
          },
          [](const Terms& sum) { return std::all_of(sum.terms.begin(), sum.terms.end(), begins_with_sums); },
          [](const Leaf&) { return true; },
      },
      nest->node);
}

/// There are loops among the statements, each a vector loop around loops. A phase that counts entries leaves
/// loops over values out, and the loops that clear a workspace store without sums.
bool are_sums(const Statements& body) {
  const auto is_loop = [](const loop_ir::StatementPtr& each) {
    return loop_ir::as<loop_ir::For>(each) != nullptr || loop_ir::as<loop_ir::Merge>(each) != nullptr;
  };
  const auto is_sum = [&](const loop_ir::StatementPtr& each) {
    const auto* loop = loop_ir::as<loop_ir::For>(each);
    if (loop == nullptr || loop->shape != Shape::vector) return false;
    const Statements inside = loop_ir::statements_of(loop->body);
    return std::any_of(inside.begin(), inside.end(), is_loop);
  };
  return std::any_of(body.begin(), body.end(), is_loop) &&
         std::all_of(body.begin(), body.end(),
                     [&](const auto& each) { return !is_loop(each) || is_sum(each); });
}

/// Guards the body of a loop over a list of which an equation leaves one value.
Body at_value(const Loop& loop, const Body& body) {
  if (!loop.value) return body;
  return [&loop, body](Scope& scope, Statements& out) {
    Statements inside;
    body(scope, inside);
    const auto coordinate = loop_ir::name(scope.coordinates.at(loop.index));
    const auto holds = loop_ir::apply(Function::equal, {coordinate, evaluated(*loop.value, scope)});
    out.push_back(make(loop_ir::If{holds, loop_ir::block(std::move(inside))}));
  };
}

/// Returns the scope inside a loop of this shape.
Scope entered(const Scope& scope, Shape shape) {
  Scope inner = scope;
  inner.in_vector_loop |= shape == Shape::vector;
  return inner;
}

}  // namespace

/// The loop runs over coordinates held by the operand's last level, a band.
bool Loops::runs_over_band(int number, const Loop& loop) const {
  if (facts_.tensor_of(number).levels.back() != LevelFormat::banded) return false;
  const LoopSpace space = facts_.space_of(loop);
  return space.kind == LoopSpace::Kind::band && !space.condition &&
         std::any_of(space.cursors.begin(), space.cursors.end(),
                     [number](const auto& cursor) { return cursor.operand == number; });
}

Shape Loops::shape_in_chain(const Loop& loop, const Scope& scope) const {
  if (loop.vector) return Shape::vector;
  if (loop.block && scope.blocks.at(loop.index).walked) return Shape::scalar;
  const auto* leaf = innermost_leaf(loop);
  if (!leaf || loop.value || scope.in_vector_loop || facts_.tracks(leaf->target) ||
      loop.annotation.unroll > 1)
    return Shape::scalar;
  if (is_interleaved(loop, facts_.mapped)) return Shape::scalar;
  const auto& target = facts_.operand(leaf->target);
  // A loop with one value for each of this one's may choose the element that is written.
  const auto writes = [&](const Loop* one) {
    for (; one != nullptr; one = std::get_if<Loop>(&one->body->node))
      if (level_of(target, one->index) >= 0) return true;
    return false;
  };
  if (target.tensor == facts_.atomic && writes(&loop)) return Shape::scalar;
  std::vector<int> operands = leaf->factors;
  operands.push_back(leaf->target);
  for (const int number : operands) {
    const int level = level_of(facts_.operand(number), loop.index);
    const auto& levels = facts_.tensor_of(number).levels;
    if (level < 0) continue;
    const bool next = levels.back() == LevelFormat::dense || runs_over_band(number, loop);
    if (level + 1 != static_cast<int>(levels.size()) || !next) return Shape::scalar;
    if (levels_.position_of(number, scope).present) return Shape::scalar;
  }
  return Shape::simd;
}

void Loops::emit(const Loop& loop, const Scope& scope, Shape shape, Statements& out, const Body& body) const {
  loop_ir::StatementPtr last;
  const Body noted = [&](Scope& below, Statements& statements) {
    body(below, statements);
    if (!statements.empty()) last = statements.back();
  };
  const Body inside = where_entries_are_made(loop, noted);
  const Body whole = appends_.with_counters(
      loop, accumulators_.with_flag(loop, appends_.with_append(loop, clearing_.around(loop, inside))));
  const MappedLoops& mapped = facts_.mapped;
  const bool finds = &loop == mapped.columns || (&loop == facts_.outermost && mapped.columns == nullptr);
  const Loop& rows = mapped.columns != nullptr ? *mapped.rows : loop;
  Scope outside = scope;
  if (finds && rows.annotation.positions > 0) outside.entry_ranges = find_entry_ranges(rows, facts_, out);
  appends_.open_rows(loop, out);
  emit_over(loop, outside, shape, out, &loop == mapped.columns ? writes_.with_deferred(whole) : whole);
  const auto* emitted = loop.value ? nullptr : loop_ir::as<loop_ir::For>(out.back());
  if (emitted != nullptr) {
    facts_.builder.variables[&loop].push_back(emitted->variable);
    if (!facts_.for_gpu) out.back() = with_facts(loop, *emitted, last);
  }
  if (is_interleaved(loop, mapped)) out.back() = writes_.interleaved(out.back(), &loop == mapped.elements);
}

/// Returns an emitted loop with what its nest tells of the body; `last`: the last statement of the nest
/// below.
loop_ir::StatementPtr Loops::with_facts(const Loop& loop, loop_ir::For emitted,
                                        const loop_ir::StatementPtr& last) const {
  const Statements body = loop_ir::statements_of(emitted.body);
  // Under a condition, the last statement is one of another block.
  const bool always = std::count(body.begin(), body.end(), last) > 0;
  emitted.product = always && are_sums(body) && has_loops(loop.body) && begins_with_sums(loop.body);
  emitted.appends = appends_.appended_by(loop, body);
  return make(std::move(emitted));
}

/// Guards the body of a loop that visits everything for the sake of the result's positions.
Body Loops::where_entries_are_made(const Loop& loop, const Body& body) const {
  const auto holds = facts_.space_of(loop).makes_entries;
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
    out.push_back(make(loop_ir::If{levels_.holding(*holds, scope), loop_ir::block(std::move(inside))}));
  };
}

void Loops::emit_over(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                      const Body& whole) const {
  if (loop.block) return emit_block_loop(loop, scope, shape, out, whole);
  if (accumulators_.emit_list_loop(loop, scope, out, at_value(loop, whole))) return;
  const LoopSpace space = facts_.space_of(loop);
  switch (space.kind) {
    case LoopSpace::Kind::range:
      return emit_range(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::band:
      return emit_band(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::table:
      return emit_hashed(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::walk:
      if (!format::is_unique(facts_.level_format(space.cursors.front())))
        return merges_.emit(loop, space, scope, out, whole);
      return emit_walk(loop, space, scope, shape, out, whole);
    case LoopSpace::Kind::intersection:
    case LoopSpace::Kind::merge:
      return merges_.emit(loop, space, scope, out, whole);
  }
}

/// Returns the range of the loop; collapsed loops count pairs of values.
loop_ir::Range Loops::bounds_of(const Loop& loop, const Scope& scope) const {
  const auto whole = facts_.builder.extents.of(loop.index);
  const auto begin = loop_ir::range_begin(), end = loop_ir::range_end();
  if (&loop == facts_.outermost && loop.annotation.collapsed) {
    const auto row = facts_.builder.extents.of(std::get<Loop>(loop.body->node).index);
    // Pairs are numbered row by row; a task may begin and end within a row.
    const auto past = loop_ir::add(end, loop_ir::add(row, loop_ir::integer(-1)));
    return {loop_ir::apply(Function::divide, {begin, row}), loop_ir::apply(Function::divide, {past, row})};
  }
  if (&loop == facts_.mapped.columns) return {loop_ir::column_begin(), loop_ir::column_end()};
  if (&loop == facts_.outermost)
    return scope.entry_ranges.operand >= 0 ? scope.entry_ranges.levels.front() : loop_ir::Range{begin, end};
  if (!scope.row.empty() && scope.inner_of_pair == &loop) {
    // Only the first and the last row of a task are cut.
    const auto before = loop_ir::multiply(loop_ir::name(scope.row), whole);
    const auto from = loop_ir::subtract(begin, before);
    const auto to = loop_ir::subtract(end, before);
    return {loop_ir::apply(Function::maximum, {from, loop_ir::integer(0)}), loop_ir::minimum(to, whole)};
  }
  return {loop_ir::integer(0), whole};
}

/// Returns the part of the range at which a sum over the index may get something, as coordinates tell.
/// Threads of a GPU, lanes, elements that are written once and appended entries need all of it.
CoordinateRange Loops::needed(const Loop& loop, const LoopSpace& space, const Scope& scope,
                              const loop_ir::Range& all) const {
  const NestPtr* at = &loop.body;
  while (const auto* inner = std::get_if<Loop>(&(*at)->node)) at = &inner->body;
  const auto* leaf = std::get_if<Leaf>(&(*at)->node);
  const bool whole = facts_.for_gpu || &loop == facts_.outermost || scope.inner_of_pair == &loop ||
                     scope.in_vector_loop || space.condition || !space.located.empty();
  if (whole || leaf == nullptr || !leaf->counted.empty()) return {all};
  const bool sums = leaf->monoid == facts_.tree.semiring->sum && facts_.tree.semiring->zero == 0 &&
                    facts_.tensor_of(leaf->target).fill == 0;
  const bool writes_each = (level_of(facts_.operand(leaf->target), loop.index) >= 0 && !loop.sums) ||
                           facts_.tracks(leaf->target) || facts_.appends_to(target_of(facts_.tree.root));
  if (!sums || writes_each) return {all};
  return bounded_by_coordinates(loop, all, scope, facts_.builder);
}

/// Emits the one iteration of a loop that an equation determines, where there is one.
void Loops::emit_value(const Loop& loop, const LoopSpace& space, const Scope& scope, Statements& out,
                       const Body& body) const {
  const std::string variable = facts_.fresh(facts_.letter_of(loop.index));
  const auto value = evaluated(*loop.value, scope);
  const auto inside = levels_.loop_body(loop, space, scope, variable, {}, body);
  if (!scope.lane.empty() && loop_ir::mentions(value, {scope.lane})) {
    SCHAAS_CHECK(scope.certain.count(loop.index) > 0, "a loop has a value in some lanes only");
    // An index of a lane has no name.
    const std::function<loop_ir::StatementPtr(const loop_ir::StatementPtr&)> in_lanes =
        [&](const loop_ir::StatementPtr& each) {
          return loop_ir::map_expressions(loop_ir::map_children(each, in_lanes),
                                          [&](const ExpressionPtr& part) {
                                            return loop_ir::substitute(part, {{variable, value}});
                                          });
        };
    for (const auto& each : loop_ir::statements_of(in_lanes(inside))) out.push_back(each);
    return;
  }
  out.push_back(make(loop_ir::Let{variable, loop_ir::Type::index, value}));
  if (scope.certain.count(loop.index) > 0) {
    for (const auto& each : loop_ir::statements_of(inside)) out.push_back(each);
    return;
  }
  const auto at = loop_ir::name(variable);
  const auto begins = loop_ir::apply(Function::less_equal, {loop_ir::integer(0), at});
  const auto ends = loop_ir::apply(Function::less, {at, facts_.builder.extents.of(loop.index)});
  out.push_back(make(loop_ir::If{loop_ir::apply(Function::logical_and, {begins, ends}), inside}));
}

/// Emits a loop over coordinates. The outer one of two collapsed loops passes its value to the inner one's
/// bounds.
void Loops::emit_range(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                       Statements& out, const Body& body) const {
  if (loop.value) return emit_value(loop, space, scope, out, body);
  if (shape == Shape::vector) {
    const auto all = bounds_of(loop, scope);
    const auto inside = with_all_values(loop, all, scope, facts_.builder);
    if (!inside.certain.empty()) return emit_around(loop, space, scope, all, inside, out, body);
  }
  const std::string variable = facts_.fresh(facts_.letter_of(loop.index));
  const auto [bounds, certain] = needed(loop, space, scope, bounds_of(loop, scope));
  Scope inner = entered(scope, shape);
  inner.certain.insert(certain.begin(), certain.end());
  levels_.open_bands(space, inner, out);
  if (&loop == facts_.outermost) {
    inner.iteration = variable;
    if (loop.annotation.collapsed) {
      inner.row = variable;
      inner.inner_of_pair = &std::get<Loop>(loop.body->node);
    }
  }
  const auto inside = levels_.loop_body(loop, space, std::move(inner), variable, {}, body);
  loop_ir::For range{variable, bounds.begin, bounds.end, shape, inside, 1, loop.annotation.unroll};
  range.along = rows_along(loop, bounds, scope);
  out.push_back(make(std::move(range)));
}

/// Emits a vector loop over the part of the range in which loops with one value below have theirs. The rest
/// has loops without lanes.
void Loops::emit_around(const Loop& loop, const LoopSpace& space, const Scope& scope,
                        const loop_ir::Range& all, const CoordinateRange& inside, Statements& out,
                        const Body& body) const {
  const auto named = [&](const char* letter, const ExpressionPtr& value) {
    const std::string name = facts_.fresh(letter);
    out.push_back(make(loop_ir::Let{name, loop_ir::Type::index, value}));
    return loop_ir::name(name);
  };
  const auto first = named("first", loop_ir::minimum(inside.range.begin, all.end));
  const auto end =
      named("end", loop_ir::apply(Function::maximum, {first, loop_ir::minimum(inside.range.end, all.end)}));
  const auto part = [&](const ExpressionPtr& from, const ExpressionPtr& to, Shape shape) {
    const std::string variable = facts_.fresh(facts_.letter_of(loop.index));
    Scope inner = entered(scope, shape);
    if (shape == Shape::vector) {
      inner.certain.insert(inside.certain.begin(), inside.certain.end());
      inner.lane = variable;
    }
    levels_.open_bands(space, inner, out);
    const auto below = levels_.loop_body(loop, space, std::move(inner), variable, {}, body);
    out.push_back(make(loop_ir::For{variable, from, to, shape, below, 1, loop.annotation.unroll}));
  };
  part(all.begin, first, Shape::scalar);
  part(end, all.end, Shape::scalar);
  part(first, end, Shape::vector);
}

/// Returns the rows whose elements the loop reads one after another, from the first to the last.
std::vector<loop_ir::RowAlong> Loops::rows_along(const Loop& loop, const loop_ir::Range& bounds,
                                                 const Scope& scope) const {
  std::vector<loop_ir::RowAlong> rows;
  if (facts_.for_gpu || !equal(bounds.begin, loop_ir::integer(0))) return rows;
  for (const int number : factors_below(loop.body, facts_.tree)) {
    const Operand& read = facts_.operand(number);
    const Position& position = levels_.position_of(number, scope);
    const int last = static_cast<int>(read.indices.size()) - 1;
    if (read.located_by >= 0 || read.pattern || !position.row || level_of(read, loop.index) != last ||
        facts_.tensor_of(number).levels.back() != LevelFormat::dense ||
        !std::all_of(position.added.begin(), position.added.end() - 1, [](bool added) { return added; }) ||
        !equal(facts_.builder.extents.product(read.tensor, {loop.index}), bounds.end))
      continue;
    const auto* offset = std::get_if<loop_ir::Name>(&position.base->node);
    const auto* row = std::get_if<loop_ir::Name>(&position.row->node);
    const std::string array = facts_.builder.arrays.declared_values(read.tensor);
    if (offset != nullptr && row != nullptr && !array.empty())
      rows.push_back({array, offset->name, row->name});
  }
  return rows;
}

/// Emits a loop over the coordinates in all bands, ascending.
void Loops::emit_band(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                      Statements& out, const Body& body) const {
  const std::string variable = facts_.fresh(facts_.letter_of(loop.index));
  Scope inner = entered(scope, shape);
  levels_.open_bands(space, inner, out);
  ExpressionPtr begin, end;
  if (&loop == facts_.outermost) {
    inner.iteration = variable;
    begin = loop_ir::range_begin();
    end = loop_ir::range_end();
  }
  for (const auto& access : space.cursors) {
    const Band& band = inner.bands.at({access.operand, access.level});
    begin = begin ? loop_ir::apply(Function::maximum, {begin, band.first}) : band.first;
    end = end ? loop_ir::minimum(end, band.end) : band.end;
    auto& position = inner.positions[static_cast<std::size_t>(access.operand)];
    position.bound[static_cast<std::size_t>(access.level)] = loop_ir::name(variable);
    position.shift[static_cast<std::size_t>(access.level)] = band.shift;
    position.present = nullptr;  // an absent operand has an empty band
  }
  const bool several = &loop == facts_.outermost || space.cursors.size() > 1;
  if (several) end = loop_ir::apply(Function::maximum, {begin, end});  // disjoint bands
  const auto inside = levels_.loop_body(loop, space, std::move(inner), variable, {}, body);
  out.push_back(make(loop_ir::For{variable, begin, end, shape, inside, 1, loop.annotation.unroll}));
}

/// Emits a loop over the occupied slots of a table.
void Loops::emit_hashed(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                        Statements& out, const Body& body) const {
  const auto& access = space.cursors.front();
  auto table = levels_.cursor(access, facts_.letter_of(loop.index), scope);
  Scope inner = entered(scope, shape);
  levels_.open_bands(space, inner, out);
  if (&loop == facts_.outermost) {
    table.begin = loop_ir::range_begin();
    table.end = loop_ir::range_end();
    inner.iteration = table.position;
  }
  auto& position = inner.positions[static_cast<std::size_t>(access.operand)];
  position.bound[static_cast<std::size_t>(access.level)] = loop_ir::name(table.position);
  position.present = nullptr;  // an absent operand has an empty table
  const std::string coordinate = facts_.fresh(facts_.letter_of(loop.index));
  const auto read = make(loop_ir::Let{coordinate, loop_ir::Type::index,
                                      loop_ir::load(table.coordinates, loop_ir::name(table.position))});
  // A free slot holds a negative coordinate.
  const auto taken = loop_ir::apply(Function::less_equal, {loop_ir::integer(0), loop_ir::name(coordinate)});
  const auto inside = levels_.loop_body(loop, space, std::move(inner), coordinate, {}, body);
  out.push_back(make(loop_ir::For{table.position, table.begin, table.end, shape,
                                  loop_ir::block({read, make(loop_ir::If{taken, inside})}), 1,
                                  loop.annotation.unroll}));
}

/// Emits a loop over the entries of one list; binds the coordinate of each.
void Loops::emit_walk(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                      Statements& out, const Body& body) const {
  const std::string letter = facts_.letter_of(loop.index);
  const auto& walked = space.cursors.front();
  auto walk = levels_.cursor(walked, letter, scope);
  Scope inner = entered(scope, shape);
  levels_.open_bands(space, inner, out);
  if (&loop == facts_.outermost) {
    if (scope.entry_ranges.operand < 0) {
      walk.begin = loop_ir::range_begin();
      walk.end = loop_ir::range_end();
    }
    inner.iteration = walk.position;
  }
  auto& position = inner.positions[static_cast<std::size_t>(walked.operand)];
  position.bound[static_cast<std::size_t>(walked.level)] = loop_ir::name(walk.position);
  const std::string coordinate = facts_.fresh(letter);
  if (loop.block) {
    const OpenBlock& block = scope.blocks.at(loop.index);
    // The entries of a block of coordinates are found by binary search.
    walk.begin = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block.begin));
    walk.end = loop_ir::search(walk.coordinates, walk.begin, walk.end, loop_ir::name(block.end));
    bind_block(loop, offset_in(block, coordinate), facts_.tree, inner);
  }
  Statements statements;
  statements.push_back(make(loop_ir::Let{coordinate, loop_ir::Type::index,
                                         loop_ir::load(walk.coordinates, loop_ir::name(walk.position))}));
  const auto inside =
      levels_.loop_body(loop, space, std::move(inner), coordinate, std::move(statements), body);
  loop_ir::For entries{walk.position, walk.begin, walk.end, shape, inside, 1, loop.annotation.unroll};
  entries.entries = walk.coordinates;
  entries.row = row_of(walked, entries);
  entries.cut = cuts_rows(walked, scope, facts_);
  if (!loop.block && !space.condition && space.located.empty())
    entries.adds = added_row(walked, entries, scope);
  // Ascending coordinates may occupy a sparse accumulator by groups.
  if (shape == Shape::scalar && &loop != facts_.outermost &&
      format::is_ordered(facts_.level_format(walked))) {
    facts_.builder.variables[&loop].push_back(entries.variable);
    accumulators_.occupy_by_groups(entries, walk.coordinates, coordinate, out);
  } else {
    out.push_back(make(entries));
  }
}

/// Returns the row whose entries the loop visits, all of them; nothing for a loop that a task or block cuts.
std::optional<loop_ir::RowEntries> Loops::row_of(const merge_lattice::LevelAccess& walked,
                                                 const loop_ir::For& loop) const {
  const auto* first = std::get_if<loop_ir::Load>(&loop.begin->node);
  if (facts_.for_gpu || first == nullptr || facts_.level_format(walked) != LevelFormat::compressed)
    return std::nullopt;
  const auto* row = std::get_if<loop_ir::Name>(&first->index->node);
  const auto past = loop_ir::load(first->array, loop_ir::add(first->index, loop_ir::integer(1)));
  if (row == nullptr || !equal(loop.end, past)) return std::nullopt;
  return loop_ir::RowEntries{row->name, {first->array}};
}

/// Returns the row that the loop adds to a sparse accumulator with a bitmap.
std::optional<loop_ir::AddedRow> Loops::added_row(const merge_lattice::LevelAccess& walked,
                                                  const loop_ir::For& loop, const Scope& scope) const {
  const auto& sum = scope.row_sum;
  if (!sum || sum->operand != walked.operand || loop.shape != Shape::scalar) return std::nullopt;
  // An operand that may be absent is read under a condition.
  if (levels_.position_of(walked.operand, scope).present) return std::nullopt;
  const Operand& read = facts_.operand(walked.operand);
  const int temporary = facts_.operand(sum->target).tensor;
  loop_ir::AddedRow row;
  row.set = accumulators_.clean_bitmap_of(temporary);
  if (row.set.empty() || walked.level + 1 != static_cast<int>(read.indices.size())) return std::nullopt;
  row.values = facts_.builder.arrays.declared_values(read.tensor);
  row.sums = facts_.builder.arrays.declared_values(temporary);
  row.factor = sum->factor;
  row.arithmetic = sum->arithmetic;
  if (sum->known) {
    row.factors = sum->known->array;
    row.at = sum->known->at;
    row.scale = sum->known->scale;
  }
  return row;
}

/// Emits a loop over the values of the present block. Temporaries that hold one block are indexed from its
/// beginning.
void Loops::emit_block_loop(const Loop& loop, const Scope& scope, Shape shape, Statements& out,
                            const Body& body) const {
  const OpenBlock& open = scope.blocks.at(loop.index);
  const LoopSpace space = facts_.space_of(loop);
  if (!open.walked && space.kind == LoopSpace::Kind::walk)
    return emit_walk(loop, space, scope, shape, out, body);
  if (!open.walked && space.kind != LoopSpace::Kind::range)
    return merges_.emit(loop, space, scope, out, body);
  const std::string letter = facts_.letter_of(loop.index);
  const std::string variable = facts_.fresh((open.walked ? "p" : "") + letter);
  Scope inner = entered(scope, shape);
  bind_block(loop, offset_in(open, variable), facts_.tree, inner);
  std::string coordinate = variable;
  Statements statements;
  if (open.walked) {
    const auto& walked = *open.walked;
    inner.positions[static_cast<std::size_t>(walked.operand)].bound[static_cast<std::size_t>(walked.level)] =
        loop_ir::name(variable);
    coordinate = facts_.fresh(letter);
    const std::string coordinates =
        facts_.builder.arrays.coordinates(facts_.operand(walked.operand).tensor, walked.level);
    statements.push_back(make(
        loop_ir::Let{coordinate, loop_ir::Type::index, loop_ir::load(coordinates, loop_ir::name(variable))}));
  }
  const auto inside = levels_.loop_body(loop, {}, std::move(inner), coordinate, std::move(statements), body);
  out.push_back(make(loop_ir::For{variable, loop_ir::name(open.begin), loop_ir::name(open.end), shape, inside,
                                  1, loop.annotation.unroll}));
}

}  // namespace schaas::lower

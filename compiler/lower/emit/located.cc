#include <algorithm>
#include <utility>

#include "compiler/lower/emit/emitter.h"

// Levels that locate a coordinate: bitmaps by one byte, bands by their two ends, hash tables by a search.
// Locating binds a position and a flag that tells whether the level holds the coordinate; values are loaded
// under that flag alone. The ends of a band are loaded once, before the loop. A loop over the intersection
// of bands is a range.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using loop_ir::Shape;
using operators::Function;

/// The loop runs over coordinates held by the operand's last level, a band.
bool Emitter::runs_over_band(int number, const Loop& loop) const {
  if (tensor_of(number).levels.back() != LevelFormat::banded) return false;
  const LoopSpace space = loop_space(loop.body, loop.index, tree_);
  return space.kind == LoopSpace::Kind::band && !space.condition &&
         std::any_of(space.cursors.begin(), space.cursors.end(),
                     [number](const auto& cursor) { return cursor.operand == number; });
}

/// Emits a loop over the coordinates in all bands, ascending.
void Emitter::emit_band(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                        Statements& out, const Body& body) {
  vector_depth_ += shape == Shape::vector ? 1 : 0;
  const std::string variable = builder_.names().fresh(letter_of(loop.index));
  Scope inner = scope;
  open_bands(space, inner, out);
  ExpressionPtr begin, end;
  if (&loop == outermost_) {
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
  const bool several = &loop == outermost_ || space.cursors.size() > 1;
  if (several) end = loop_ir::apply(Function::maximum, {begin, end});  // disjoint bands
  const auto inside = loop_body(loop, space, std::move(inner), variable, {}, body);
  out.push_back(make(loop_ir::For{variable, begin, end, shape, inside, 1, loop.annotation.unroll}));
  vector_depth_ -= shape == Shape::vector ? 1 : 0;
}

/// Emits a loop over the occupied slots of a table.
void Emitter::emit_hashed(const Loop& loop, const LoopSpace& space, const Scope& scope, Shape shape,
                          Statements& out, const Body& body) {
  vector_depth_ += shape == Shape::vector ? 1 : 0;
  const auto& access = space.cursors.front();
  auto table = cursor(access, letter_of(loop.index), scope);
  Scope inner = scope;
  open_bands(space, inner, out);
  if (&loop == outermost_) {
    table.begin = loop_ir::range_begin();
    table.end = loop_ir::range_end();
    inner.iteration = table.position;
  }
  auto& position = inner.positions[static_cast<std::size_t>(access.operand)];
  position.bound[static_cast<std::size_t>(access.level)] = loop_ir::name(table.position);
  position.present = nullptr;  // an absent operand has an empty table
  const std::string coordinate = builder_.names().fresh(letter_of(loop.index));
  const auto read = make(loop_ir::Let{coordinate, loop_ir::Type::index,
                                      loop_ir::load(table.coordinates, loop_ir::name(table.position))});
  // A free slot holds a negative coordinate.
  const auto taken = loop_ir::apply(Function::less_equal, {loop_ir::integer(0), loop_ir::name(coordinate)});
  const auto inside = loop_body(loop, space, std::move(inner), coordinate, {}, body);
  out.push_back(make(loop_ir::For{table.position, table.begin, table.end, shape,
                                  loop_ir::block({read, make(loop_ir::If{taken, inside})}), 1,
                                  loop.annotation.unroll}));
  vector_depth_ -= shape == Shape::vector ? 1 : 0;
}

/// Loads, outside the loop, the ends of bands that it runs over or locates in.
void Emitter::open_bands(const LoopSpace& space, Scope& scope, Statements& out) {
  for (const auto* levels : {&space.cursors, &space.located}) {
    for (const auto& access : *levels) {
      if (level_format(access) == LevelFormat::banded)
        scope.bands[{access.operand, access.level}] = open_band(access, scope, out);
    }
  }
}

/// Loads the coordinates of one parent's band, and the shift that makes a position of each.
Band Emitter::open_band(const merge_lattice::LevelAccess& access, const Scope& scope, Statements& out) {
  const int tensor = operand(access.operand).tensor;
  const auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, tensor_of(access.operand), access.level),
               "a band is opened before the levels above it");
  const std::string letter =
      letter_of(operand(access.operand).indices[static_cast<std::size_t>(access.level)]);
  const auto named = [&](const std::string& preferred, ExpressionPtr value) {
    const std::string text = builder_.names().fresh(preferred);
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::index, std::move(value)}));
    return loop_ir::name(text);
  };
  // An absent parent has an empty band at 0.
  const auto stored = [&](ExpressionPtr value) {
    return position.present ? loop_ir::choose(position.present, std::move(value), loop_ir::integer(0))
                            : value;
  };
  const auto parent = location(position);
  const std::string positions = builder_.positions(tensor, access.level);
  const auto next = loop_ir::load(positions, loop_ir::add(parent, loop_ir::integer(1)));
  Band band;
  band.first =
      named(letter + "_first", stored(loop_ir::load(builder_.coordinates(tensor, access.level), parent)));
  band.shift = named("o", loop_ir::subtract(stored(loop_ir::load(positions, parent)), band.first));
  band.end = named(letter + "_past", loop_ir::subtract(stored(next), band.shift));
  return band;
}

/// Binds the level: its position, and a flag for its presence.
void Emitter::locate(const merge_lattice::LevelAccess& access, const std::string& coordinate, Scope& scope,
                     Statements& out) {
  auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, tensor_of(access.operand), access.level),
               "a level is located before the levels above it");
  const auto key = loop_ir::name(coordinate);
  const LevelFormat kind = level_format(access);
  auto held = kind == LevelFormat::banded   ? locate_in_band(access, key, scope, out)
              : kind == LevelFormat::hashed ? locate_in_table(access, key, scope, out)
                                            : locate_in_bitmap(access, key, scope, out);
  const std::string present = builder_.names().fresh("has");
  out.push_back(make(loop_ir::Let{present, loop_ir::Type::index, std::move(held)}));
  position.present = loop_ir::name(present);
}

ExpressionPtr Emitter::locate_in_band(const merge_lattice::LevelAccess& access,
                                      const ExpressionPtr& coordinate, Scope& scope, Statements& out) {
  auto known = scope.bands.find({access.operand, access.level});
  if (known == scope.bands.end()) {
    const Band band = open_band(access, scope, out);
    known = scope.bands.emplace(std::pair{access.operand, access.level}, band).first;
  }
  const Band& band = known->second;
  auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  position.bound[static_cast<std::size_t>(access.level)] = coordinate;
  position.shift[static_cast<std::size_t>(access.level)] = band.shift;
  return loop_ir::apply(Function::logical_and,
                        {loop_ir::apply(Function::less_equal, {band.first, coordinate}),
                         loop_ir::apply(Function::less, {coordinate, band.end})});
}

ExpressionPtr Emitter::locate_in_table(const merge_lattice::LevelAccess& access,
                                       const ExpressionPtr& coordinate, Scope& scope, Statements& out) {
  const auto table = cursor(
      access, letter_of(operand(access.operand).indices[static_cast<std::size_t>(access.level)]), scope);
  out.push_back(make(loop_ir::Let{
      table.position, loop_ir::Type::index,
      loop_ir::search(table.coordinates, table.begin, table.end, coordinate, loop_ir::Layout::hashed)}));
  const auto found = loop_ir::name(table.position);
  scope.positions[static_cast<std::size_t>(access.operand)].bound[static_cast<std::size_t>(access.level)] =
      found;
  // A search that finds no key gives -1.
  return loop_ir::apply(Function::less_equal, {loop_ir::integer(0), found});
}

ExpressionPtr Emitter::locate_in_bitmap(const merge_lattice::LevelAccess& access,
                                        const ExpressionPtr& coordinate, Scope& scope, Statements& out) {
  const int tensor = operand(access.operand).tensor;
  const int index = operand(access.operand).indices[static_cast<std::size_t>(access.level)];
  auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  const std::string slot = builder_.names().fresh("p" + letter_of(index));
  const auto row = loop_ir::multiply(location(position), builder_.extents(tensor, {index}));
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, loop_ir::add(row, coordinate)}));
  position.bound[static_cast<std::size_t>(access.level)] = loop_ir::name(slot);
  auto held = loop_ir::load(builder_.held(tensor, access.level), loop_ir::name(slot));
  // An absent parent has no byte to load; `and` stops before it.
  return position.present ? loop_ir::apply(Function::logical_and, {position.present, std::move(held)}) : held;
}

}  // namespace schaas::lower

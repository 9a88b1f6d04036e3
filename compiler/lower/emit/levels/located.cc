#include <utility>

#include "compiler/lower/emit/levels/levels.h"

// Levels that locate a coordinate: bitmaps by one byte, bands by their two ends, hash tables by a search.
// Locating binds a position and a flag that tells whether the level holds the coordinate; values are loaded
// under that flag alone. The ends of a band are loaded once, before the loop.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using operators::Function;

void Levels::open_bands(const LoopSpace& space, Scope& scope, Statements& out) const {
  for (const auto* levels : {&space.cursors, &space.located}) {
    for (const auto& access : *levels) {
      if (facts_.level_format(access) == LevelFormat::banded)
        scope.bands[{access.operand, access.level}] = open_band(access, scope, out);
    }
  }
}

/// Loads the coordinates of one parent's band, and the shift that makes a position of each.
Band Levels::open_band(const merge_lattice::LevelAccess& access, const Scope& scope, Statements& out) const {
  const int tensor = facts_.operand(access.operand).tensor;
  const auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, facts_.tensor_of(access.operand), access.level),
               "a band is opened before the levels above it");
  const std::string letter =
      facts_.letter_of(facts_.operand(access.operand).indices[static_cast<std::size_t>(access.level)]);
  const auto named = [&](const std::string& preferred, ExpressionPtr value) {
    const std::string text = facts_.fresh(preferred);
    out.push_back(make(loop_ir::Let{text, loop_ir::Type::index, std::move(value)}));
    return loop_ir::name(text);
  };
  // An absent parent has an empty band at 0.
  const auto stored = [&](ExpressionPtr value) {
    return position.present ? loop_ir::choose(position.present, std::move(value), loop_ir::integer(0))
                            : value;
  };
  const auto parent = location(position);
  const std::string positions = facts_.builder.arrays.positions(tensor, access.level);
  const auto next = loop_ir::load(positions, loop_ir::add(parent, loop_ir::integer(1)));
  Band band;
  band.first = named(letter + "_first",
                     stored(loop_ir::load(facts_.builder.arrays.coordinates(tensor, access.level), parent)));
  band.shift = named("o", loop_ir::subtract(stored(loop_ir::load(positions, parent)), band.first));
  band.end = named(letter + "_past", loop_ir::subtract(stored(next), band.shift));
  return band;
}

/// Binds the level: its position, and a flag for its presence.
void Levels::locate(const merge_lattice::LevelAccess& access, const std::string& coordinate, Scope& scope,
                    Statements& out) const {
  auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, facts_.tensor_of(access.operand), access.level),
               "a level is located before the levels above it");
  const auto key = loop_ir::name(coordinate);
  const LevelFormat kind = facts_.level_format(access);
  auto held = kind == LevelFormat::banded   ? locate_in_band(access, key, scope, out)
              : kind == LevelFormat::hashed ? locate_in_table(access, key, scope, out)
                                            : locate_in_bitmap(access, key, scope, out);
  const std::string present = facts_.fresh("has");
  out.push_back(make(loop_ir::Let{present, loop_ir::Type::index, std::move(held)}));
  position.present = loop_ir::name(present);
}

ExpressionPtr Levels::locate_in_band(const merge_lattice::LevelAccess& access,
                                     const ExpressionPtr& coordinate, Scope& scope, Statements& out) const {
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

ExpressionPtr Levels::locate_in_table(const merge_lattice::LevelAccess& access,
                                      const ExpressionPtr& coordinate, Scope& scope, Statements& out) const {
  const auto table =
      cursor(access,
             facts_.letter_of(facts_.operand(access.operand).indices[static_cast<std::size_t>(access.level)]),
             scope);
  out.push_back(make(loop_ir::Let{
      table.position, loop_ir::Type::index,
      loop_ir::search(table.coordinates, table.begin, table.end, coordinate, loop_ir::Layout::hashed)}));
  const auto found = loop_ir::name(table.position);
  scope.positions[static_cast<std::size_t>(access.operand)].bound[static_cast<std::size_t>(access.level)] =
      found;
  // A search that finds no key gives -1.
  return loop_ir::apply(Function::less_equal, {loop_ir::integer(0), found});
}

ExpressionPtr Levels::locate_in_bitmap(const merge_lattice::LevelAccess& access,
                                       const ExpressionPtr& coordinate, Scope& scope, Statements& out) const {
  const int tensor = facts_.operand(access.operand).tensor;
  const int index = facts_.operand(access.operand).indices[static_cast<std::size_t>(access.level)];
  auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  const std::string slot = facts_.fresh("p" + facts_.letter_of(index));
  const auto row = loop_ir::multiply(location(position), facts_.builder.extents.product(tensor, {index}));
  out.push_back(make(loop_ir::Let{slot, loop_ir::Type::index, loop_ir::add(row, coordinate)}));
  position.bound[static_cast<std::size_t>(access.level)] = loop_ir::name(slot);
  auto held = loop_ir::load(facts_.builder.arrays.held(tensor, access.level), loop_ir::name(slot));
  // An absent parent has no byte to load; `and` stops before it.
  return position.present ? loop_ir::apply(Function::logical_and, {position.present, std::move(held)}) : held;
}

}  // namespace schaas::lower

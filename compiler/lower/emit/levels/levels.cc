#include "compiler/lower/emit/levels/levels.h"

#include <utility>

// Binds levels as loops enter them. Levels with repeated coordinates are walked by ranges of equal
// coordinates; locating levels are tested at each coordinate (located.cc). Lists of a range of entries are
// cut at both ends of that range.
namespace schaas::lower {

using format::LevelFormat;
using loop_ir::ExpressionPtr;
using loop_ir::make;
using merge_lattice::Formula;

Scope Levels::start(const NestPtr& nest, Statements& out) const {
  Scope scope;
  for (const auto& each : facts_.tree.operands) scope.positions.push_back(start_position(each));
  resolve_all(operands_below(nest, facts_.tree), scope, out);
  return scope;
}

const Position& Levels::position_of(int number, const Scope& scope) const {
  const int located_by = facts_.operand(number).located_by;
  return scope.positions[static_cast<std::size_t>(located_by < 0 ? number : located_by)];
}

bool Levels::is_complete(int number, const Scope& scope) const {
  const int located_by = facts_.operand(number).located_by;
  return complete(position_of(number, scope), facts_.tensor_of(located_by < 0 ? number : located_by));
}

void Levels::resolve_all(const std::vector<int>& operands, Scope& scope, Statements& out) const {
  for (const int number : operands) {
    if (facts_.operand(number).located_by >= 0) continue;
    resolve(scope.positions[static_cast<std::size_t>(number)], facts_.operand(number),
            facts_.tensor_of(number), facts_.builder, out);
  }
}

loop_ir::Cursor Levels::cursor(const merge_lattice::LevelAccess& access, const std::string& preferred,
                               const Scope& scope) const {
  const int tensor = facts_.operand(access.operand).tensor;
  const auto& position = scope.positions[static_cast<std::size_t>(access.operand)];
  SCHAAS_CHECK(reached(position, facts_.tensor_of(access.operand), access.level),
               "level " + std::to_string(access.level) + " of `" + facts_.tensor_of(access.operand).name +
                   "` is reached before the levels above it");
  if (facts_.level_format(access) == LevelFormat::banded) {
    const Band& band = scope.bands.at({access.operand, access.level});
    return loop_ir::Cursor{facts_.fresh("p" + preferred), "", band.first, band.end};
  }
  const auto parent = location(position);
  auto begin = parent;
  ExpressionPtr end;
  // A partial result has positions [first, last) of the split iteration.
  if (scope.split_level && scope.split_level->operand == access.operand &&
      scope.split_level->level == access.level) {
    begin = loop_ir::name("first");
    end = loop_ir::name("last");
  } else if (format::is_singleton(facts_.level_format(access))) {
    end = position.until[static_cast<std::size_t>(access.level - 1)];
    SCHAAS_CHECK(end, "a singleton level below one whose range is unknown");
  } else {
    const std::string positions = facts_.builder.arrays.positions(tensor, access.level);
    begin = loop_ir::load(positions, parent);
    end = loop_ir::load(positions, loop_ir::add(parent, loop_ir::integer(1)));
  }
  // The first and the last parent of a range of entries may have entries outside of it.
  if (access.operand == scope.entry_ranges.operand &&
      static_cast<std::size_t>(access.level) < scope.entry_ranges.levels.size()) {
    const auto& share = scope.entry_ranges.levels[static_cast<std::size_t>(access.level)];
    begin = access.level == 0 ? share.begin
                              : loop_ir::apply(operators::Function::maximum, {std::move(begin), share.begin});
    end = access.level == 0 ? share.end : loop_ir::minimum(std::move(end), share.end);
  }
  if (position.present) {  // an absent operand has no entries
    begin = loop_ir::choose(position.present, std::move(begin), loop_ir::integer(0));
    end = loop_ir::choose(position.present, std::move(end), loop_ir::integer(0));
  }
  return loop_ir::Cursor{facts_.fresh("p" + preferred),
                         facts_.builder.arrays.coordinates(tensor, access.level), std::move(begin),
                         std::move(end)};
}

ExpressionPtr Levels::holding(const Formula& formula, const Scope& scope) const {
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

loop_ir::StatementPtr Levels::loop_body(const Loop& loop, const LoopSpace& space, Scope inner,
                                        const std::string& coordinate, Statements statements,
                                        const Body& body) const {
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

void Levels::bind(const Loop& loop, const std::string& coordinate, Scope& scope, Statements& out) const {
  scope.coordinates[loop.index] = coordinate;
  const auto below = operands_below(loop.body, facts_.tree);
  for (const int number : below) {
    const auto& use = facts_.operand(number);
    if (use.located_by >= 0) continue;
    auto& bound = scope.positions[static_cast<std::size_t>(number)].bound;
    for (std::size_t level = 0; level < use.indices.size(); ++level) {
      if (use.indices[level] == loop.index && !bound[level] &&
          facts_.tensor_of(number).levels[level] == LevelFormat::dense)
        bound[level] = loop_ir::name(coordinate);
    }
  }
  resolve_all(below, scope, out);
  for (const int number : factors_below(loop.body, facts_.tree))
    search_diagonal(number, loop.index, coordinate, scope, out);
}

/// Searches the entry of a sparse level that binds an index a second time, as in A(i,i).
void Levels::search_diagonal(int number, int index, const std::string& coordinate, Scope& scope,
                             Statements& out) const {
  const auto& use = facts_.operand(number);
  for (int level = 0; level < static_cast<int>(use.indices.size()); ++level) {
    auto& position = scope.positions[static_cast<std::size_t>(number)];
    const auto at = static_cast<std::size_t>(level);
    if (use.indices[at] != index || position.bound[at] || !reached(position, facts_.tensor_of(number), level))
      continue;
    if (format::is_located(facts_.level_format({number, level}))) {
      locate({number, level}, coordinate, scope, out);
      resolve(position, use, facts_.tensor_of(number), facts_.builder, out);
      continue;
    }
    const auto list = cursor({number, level}, facts_.letter_of(index), scope);
    const bool is_unique = format::is_unique(facts_.level_format({number, level}));
    ExpressionPtr end = list.end;
    if (!is_unique) {
      const std::string named = facts_.fresh("o");
      out.push_back(make(loop_ir::Let{named, loop_ir::Type::index, end}));
      end = loop_ir::name(named);
    }
    const auto key = loop_ir::name(coordinate);
    const auto layout = is_unique ? loop_ir::Layout::distinct : loop_ir::Layout::ascending;
    out.push_back(make(loop_ir::Let{list.position, loop_ir::Type::index,
                                    loop_ir::search(list.coordinates, list.begin, end, key, layout)}));
    const auto at_key = loop_ir::name(list.position);
    auto found = loop_ir::apply(operators::Function::less_equal, {loop_ir::integer(0), at_key});
    if (!is_unique) {
      const auto inside = loop_ir::apply(operators::Function::less, {at_key, end});
      const auto same =
          loop_ir::apply(operators::Function::equal, {loop_ir::load(list.coordinates, at_key), key});
      found = loop_ir::apply(operators::Function::logical_and, {inside, same});
      position.until[at] =
          loop_ir::search(list.coordinates, at_key, end, loop_ir::add(key, loop_ir::integer(1)));
    }
    const std::string present = facts_.fresh("has");
    out.push_back(make(loop_ir::Let{present, loop_ir::Type::index, found}));
    position.bound[at] = at_key;
    position.present = loop_ir::name(present);
    resolve(position, use, facts_.tensor_of(number), facts_.builder, out);
  }
}

}  // namespace schaas::lower

#include "compiler/lower/row_walk.h"

namespace schaas::lower {

std::optional<RowWalk> row_walk(
    const loop_ir::For& loop,
    const std::function<const loop_ir::Expression*(const loop_ir::StatementPtr&)>& mark) {
  RowWalk walk;
  std::set<std::string> places;
  const auto is_place = [&](const loop_ir::Expression& expression) {
    const auto* name = std::get_if<loop_ir::Name>(&expression.node);
    return name != nullptr && places.count(name->name) > 0;
  };
  bool marked = false;
  for (const auto& each : statements_of(loop.body)) {
    if (const auto* let = as<loop_ir::Let>(each)) {
      const auto* coordinate = std::get_if<loop_ir::Load>(&let->value->node);
      if (coordinate != nullptr && places.empty() && is_name(coordinate->index, loop.variable)) {
        walk.coordinates = coordinate->array;
      } else if (!is_place(*let->value)) {
        return std::nullopt;
      }
      places.insert(let->name);
    } else if (const auto* place = mark(each)) {
      if (marked || !is_place(*place)) return std::nullopt;
      marked = true;
    } else {
      const auto* store = as<loop_ir::Store>(each);
      if (walk.sum != nullptr || store == nullptr || !is_place(*store->index) ||
          store->mode != loop_ir::Write::fold || store->monoid != operators::Monoid::sum)
        return std::nullopt;
      walk.sum = store;
    }
  }
  if (!marked || walk.sum == nullptr) return std::nullopt;
  walk.declared = std::move(places);
  walk.declared.insert(loop.variable);
  return walk;
}

}  // namespace schaas::lower

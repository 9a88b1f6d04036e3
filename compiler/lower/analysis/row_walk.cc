#include "compiler/lower/analysis/row_walk.h"

// The form of a row's walk that expand.cc and supernodes.cc share; they differ in the statement that
// occupies.
namespace schaas::lower {

std::optional<RowWalk> row_walk(
    const loop_ir::For& loop,
    const std::function<const loop_ir::Expression*(const loop_ir::StatementPtr&)>& occupy) {
  RowWalk walk;
  std::set<std::string> names;
  const auto is_coordinate = [&](const loop_ir::Expression& expression) {
    const auto* name = std::get_if<loop_ir::Name>(&expression.node);
    return name != nullptr && names.count(name->name) > 0;
  };
  bool occupied = false;
  for (const auto& each : statements_of(loop.body)) {
    if (const auto* let = as<loop_ir::Let>(each)) {
      const auto* coordinate = std::get_if<loop_ir::Load>(&let->value->node);
      // The first let loads the coordinate; further ones may rename it.
      if (coordinate != nullptr && names.empty() && is_name(coordinate->index, loop.variable)) {
        walk.coordinates = coordinate->array;
      } else if (!is_coordinate(*let->value)) {
        return std::nullopt;
      }
      names.insert(let->name);
    } else if (const auto* occupied_index = occupy(each)) {
      if (occupied || !is_coordinate(*occupied_index)) return std::nullopt;
      occupied = true;
    } else {
      const auto* store = as<loop_ir::Store>(each);
      if (walk.sum != nullptr || store == nullptr || !is_coordinate(*store->index) ||
          store->mode != loop_ir::Write::fold || store->monoid != operators::Monoid::sum)
        return std::nullopt;
      walk.sum = store;
    }
  }
  if (!occupied || walk.sum == nullptr) return std::nullopt;
  walk.declared = std::move(names);
  walk.declared.insert(loop.variable);
  return walk;
}

}  // namespace schaas::lower

#include "compiler/loop_ir/loop_checks.h"

#include <algorithm>
#include <set>
#include <string>

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/kernel_checks.h"
#include "compiler/loop_ir/uses.h"

// Attributes are checked one by one, each against the loop's own form. A pass that reads an attribute need
// not look at the form again.
namespace schaas::loop_ir {
namespace {

using support::Result;

/// Checks the step and the unroll factor, which order iterations.
Result<void> check_order(const For& loop) {
  if (loop.step < 1 || (loop.step > 1 && loop.shape != Shape::scalar))
    return wrong("`" + loop.variable + "` advances by " + std::to_string(loop.step));
  if (loop.unroll < 1 || (loop.unroll > 1 && loop.shape != Shape::scalar))
    return wrong("`" + loop.variable + "` is unrolled " + std::to_string(loop.unroll) + " times");
  return {};
}

Result<void> check_part(const For& loop) {
  if (loop.part == Part::jammed && loop.step == 1)
    return wrong("`" + loop.variable + "` is jammed, but takes one value at a time");
  if (loop.part == Part::remainder && !std::holds_alternative<Name>(loop.begin->node))
    return wrong("`" + loop.variable + "` is a remainder, but does not begin at a counter");
  return {};
}

Result<void> check_entries(const For& loop, const Kernel& kernel) {
  if (loop.entries.empty()) return {};
  const auto array = std::find_if(kernel.arrays.begin(), kernel.arrays.end(),
                                  [&](const Array& each) { return each.name == loop.entries; });
  const bool holds_entries = array != kernel.arrays.end() &&
                             (array->element == Element::index32 || array->element == Element::index64);
  if (!holds_entries)
    return wrong("`" + loop.variable + "` visits entries of `" + loop.entries + "`, which holds no indices");
  return {};
}

Result<void> check_row(const For& loop, const Kernel& kernel) {
  if (!loop.row) return {};
  const auto is_index_array = [&](const std::string& text) {
    return std::any_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const Array& each) {
      return each.name == text && (each.element == Element::index32 || each.element == Element::index64);
    });
  };
  const auto first = first_position(*loop.row, name(loop.row->row));
  // A whole group ends before the values below one.
  const auto past = first_position(*loop.row, add(name(loop.row->row), integer(1)));
  const bool begins = loop.part == Part::remainder || equal(loop.begin, first);
  const bool ends =
      equal(loop.end, loop.part == Part::jammed ? subtract(past, integer(loop.step - 1)) : past);
  const auto& positions = loop.row->positions;
  if (positions.empty() || !std::all_of(positions.begin(), positions.end(), is_index_array) || !begins ||
      !ends)
    return wrong("`" + loop.variable + "` does not visit the entries of row `" + loop.row->row + "`");
  return {};
}

/// The iteration binds the position where the counter stands and then advances the counter, once.
Result<void> check_appended_entry(const For& loop) {
  if (!loop.appends) return {};
  const AppendedEntry& entry = *loop.appends;
  const auto next = add(name(entry.position), integer(1));
  int bound = 0, advanced = 0;
  bool only = true;
  for (const auto& each : statements_of(loop.body)) {
    const auto* let = as<Let>(each);
    const auto* set = as<SetCounter>(each);
    if (let != nullptr && let->name == entry.position && is_name(let->value, entry.counter)) {
      ++bound;
    } else if (set != nullptr && set->name == entry.counter) {
      only = only && bound == 1 && equal(set->value, next);
      ++advanced;
    } else {
      Uses uses;
      collect_uses(each, uses);
      only = only && uses.names.count(entry.counter) == 0;
    }
  }
  if (!only || bound != 1 || advanced != 1 || loop.step != 1)
    return wrong("`" + loop.variable + "` does not append one entry at `" + entry.counter + "`");
  return {};
}

/// Loops in the body are vector loops around loops.
Result<void> check_product(const For& loop) {
  if (!loop.product) return {};
  const auto is_loop = [](const StatementPtr& each) { return as<For>(each) || as<Merge>(each); };
  bool only = true;
  for (const auto& each : statements_of(loop.body)) {
    if (!is_loop(each)) continue;
    const For* inside = as<For>(each);
    const auto body = inside == nullptr ? std::vector<StatementPtr>{} : statements_of(inside->body);
    only = only && inside != nullptr && inside->shape == Shape::vector &&
           std::any_of(body.begin(), body.end(), is_loop);
  }
  if (!only) return wrong("iterations of `" + loop.variable + "` are no rows of products");
  return {};
}

bool holds_values(const std::string& name, const Kernel& kernel) {
  return std::any_of(kernel.arrays.begin(), kernel.arrays.end(),
                     [&](const Array& each) { return each.name == name && each.element == Element::value; });
}

Result<void> check_along(const For& loop, const Kernel& kernel) {
  const auto* begin = std::get_if<Integer>(&loop.begin->node);
  for (const auto& row : loop.along) {
    const bool whole = loop.part != Part::whole || (begin != nullptr && begin->value == 0);
    if (!whole || !holds_values(row.array, kernel))
      return wrong("`" + loop.variable + "` does not run along rows of `" + row.array + "`");
  }
  return {};
}

/// The value is that which a loop adds to a sparse accumulator.
bool is_added(const ExpressionPtr& value, const AddedRow& row, const std::string& position) {
  const auto entry = load(row.values, name(position));
  const auto* factor = std::get_if<Number>(&row.factor->node);
  const operators::Function product = row.arithmetic.product;
  if (factor != nullptr && product == operators::Function::multiply) {
    if (factor->value == 1 && equal(value, entry)) return true;
    if (factor->value == -1 && equal(value, apply(operators::Function::negate, {entry}))) return true;
  }
  return equal(value, apply(product, {row.factor, entry}));
}

/// The statement occupies an index by one of `names`.
bool occupies(const StatementPtr& statement, const AddedRow& row, const std::set<std::string>& names) {
  const auto* index = row.variant == AddedRow::Variant::clustered ? nullptr : as<Occupy>(statement);
  if (index != nullptr) return index->occupancy.array == row.set && mentions(index->index, names);
  const auto* store = as<Store>(statement);
  return store != nullptr && store->array == row.set && store->mode == Write::set &&
         mentions(store->index, names);
}

/// The body loads the coordinate, occupies it and adds the value, nothing else.
bool only_adds_row(const For& loop, const AddedRow& row) {
  const Let* coordinate = coordinate_let(loop);
  if (coordinate == nullptr) return false;
  std::set<std::string> names{coordinate->name};
  int sums = 0, occupied = 0;
  for (const auto& each : statements_of(loop.body)) {
    const auto* let = as<Let>(each);
    const auto* store = as<Store>(each);
    if (let == coordinate) continue;
    if (let != nullptr && std::holds_alternative<Name>(let->value->node) && mentions(let->value, names)) {
      names.insert(let->name);
    } else if (occupies(each, row, names)) {
      ++occupied;
    } else if (store != nullptr && store->array == row.sums && store->mode == Write::fold &&
               store->monoid == row.arithmetic.monoid && mentions(store->index, names) &&
               is_added(store->value, row, loop.variable)) {
      ++sums;
    } else {
      return false;
    }
  }
  return sums == 1 && occupied == 1;
}

Result<void> check_added_row(const For& loop) {
  if (!loop.adds) return {};
  const AddedRow& row = *loop.adds;
  if (loop.shape != Shape::scalar || loop.step != 1 || !only_adds_row(loop, row))
    return wrong("`" + loop.variable + "` does not add a row of `" + row.values + "` to `" + row.sums + "`");
  return {};
}

/// Returns the loop that a statement of a body runs, under a condition or not; or null.
const For* loop_of(const StatementPtr& statement) {
  const auto* branch = as<If>(statement);
  return as<For>(branch != nullptr ? branch->body : statement);
}

/// A loop at whose positions rows are added does nothing else: other code may skip positions.
Result<void> check_loop_around_rows(const For& loop) {
  const auto body = statements_of(loop.body);
  for (const auto& each : body) {
    const For* inside = loop_of(each);
    if (inside == nullptr || !inside->adds || inside->adds->at != loop.variable) continue;
    const AddedRow& row = *inside->adds;
    const auto factor = load(row.factors, name(loop.variable));
    const auto* scale = std::get_if<Number>(&row.scale->node);
    const auto product = scale != nullptr && scale->value == 1
                             ? factor
                             : apply(operators::Function::multiply, {row.scale, factor});
    const bool known = std::any_of(body.begin(), body.end(), [&](const StatementPtr& other) {
      const auto* let = as<Let>(other);
      return let != nullptr && is_name(row.factor, let->name) && equal(let->value, product);
    });
    const bool only = std::all_of(body.begin(), body.end(), [](const StatementPtr& other) {
      return as<Let>(other) || as<OccupyGroups>(other) || as<If>(other) || loop_of(other);
    });
    if (!known || !only)
      return wrong("`" + loop.variable + "` does more than add rows, or `" + row.factors +
                   "` is not their factor");
  }
  return {};
}

}  // namespace

Result<void> check_attributes(const For& loop, const Kernel& kernel, Surroundings around) {
  SCHAAS_RETURN_IF_ERROR(check_order(loop));
  SCHAAS_RETURN_IF_ERROR(check_part(loop));
  SCHAAS_RETURN_IF_ERROR(check_entries(loop, kernel));
  SCHAAS_RETURN_IF_ERROR(check_row(loop, kernel));
  SCHAAS_RETURN_IF_ERROR(check_appended_entry(loop));
  SCHAAS_RETURN_IF_ERROR(check_product(loop));
  SCHAAS_RETURN_IF_ERROR(check_along(loop, kernel));
  SCHAAS_RETURN_IF_ERROR(check_added_row(loop));
  SCHAAS_RETURN_IF_ERROR(check_loop_around_rows(loop));
  if (loop.interleaved && !(around.in_mapping && mentions(loop.begin, {"lane", "lane_group"})))
    return wrong("`" + loop.variable + "` is interleaved, but does not begin at a thread's lane or group");
  const auto body = statements_of(loop.body);
  const bool only_sets = std::all_of(body.begin(), body.end(), [](const StatementPtr& each) {
    const auto* store = as<Store>(each);
    return store != nullptr && store->mode == Write::set;
  });
  if (loop.clears && !only_sets)
    return wrong("`" + loop.variable + "` clears elements, but does not only store them");
  if (loop.overruns && !(only_sets && loop.row))
    return wrong("`" + loop.variable + "` overruns, but does not only store the entries of a row");
  const bool between = arguments_of(loop.begin, operators::Function::maximum) != nullptr &&
                       arguments_of(loop.end, operators::Function::minimum) != nullptr;
  if (loop.cut && !between) return wrong("`" + loop.variable + "` is cut, but not at the range of the phase");
  const bool gathers = around.in_vector_loop && has_operand_entries(loop, kernel);
  if (loop.prefetch_distance < 0 || (loop.prefetch_distance > 0 && !gathers))
    return wrong("`" + loop.variable + "` prefetches, but does not iterate over entries in a vector loop");
  return {};
}

}  // namespace schaas::loop_ir

#include "compiler/loop_ir/result_rows.h"

#include <algorithm>
#include <set>

#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Forms in which rows of the result are written. Streaming stores write whole vectors, so only stores in
// vector loops can be such. Rows that loops add to are kept in registers when nothing else accesses
// them.
namespace schaas::loop_ir {
namespace {

bool sets(const StatementPtr& statement, const std::string& array) {
  return any_of(statement, [&](const StatementPtr& each) {
    const auto* store = as<Store>(each);
    return store != nullptr && store->mode == Write::set && store->array == array;
  });
}

/// Returns the only statement of the loop's body when it adds to an element; else null.
const Store* addition(const For& loop) {
  const auto* store = as<Store>(loop.body);
  if (store == nullptr || store->mode != Write::fold || store->monoid != operators::Monoid::sum ||
      loop.shape != Shape::simd)
    return nullptr;
  const auto* begin = std::get_if<Integer>(&loop.begin->node);
  return begin != nullptr && begin->value == 0 ? store : nullptr;
}

/// Returns the index of the first element that the loop adds to, when the others follow; else null.
ExpressionPtr first_element(const For& loop, const Store& store) {
  const std::set<std::string> lanes = {loop.variable};
  if (!is_vector_value(store.value, loop.variable, lanes)) return nullptr;
  if (is_name(store.index, loop.variable)) return integer(0);
  const auto* sum = arguments_of(store.index, operators::Function::add);
  if (sum == nullptr || !is_name(sum->back(), loop.variable) || mentions(sum->front(), lanes)) return nullptr;
  return sum->front();
}

template <class Part>
bool uses_array(const Part& part, const std::string& array) {
  Uses uses;
  collect_uses(part, uses);
  return uses.arrays.count(array) > 0;
}

/// The statement accesses the array outside of the statements inside it.
bool accesses_itself(const StatementPtr& statement, const std::string& array) {
  if (const auto* branch = as<If>(statement)) return uses_array(branch->condition, array);
  // Bounds of loops are indices.
  return !is_any<Block, For, Merge>(statement) && uses_array(statement, array);
}

}  // namespace

bool sets_by_vectors(const StatementPtr& statement, const std::string& array) {
  return any_of(statement, [&](const StatementPtr& each) {
    const auto* loop = as<For>(each);
    return loop != nullptr && loop->shape != Shape::scalar && sets(loop->body, array);
  });
}

std::string streaming_target(const Kernel& kernel) {
  for (const Array& array : kernel.arrays) {
    const auto* values = std::get_if<ArgumentValues>(&array.origin);
    if (values == nullptr || values->argument != 0) continue;
    for (const Phase& phase : kernel.phases) {
      std::vector<StatementPtr> bodies = {phase.body, phase.numeric};
      if (phase.row_split) bodies.insert(bodies.end(), {phase.row_split->partial, phase.row_split->fix_up});
      for (const StatementPtr& body : bodies)
        if (body && sets_by_vectors(body, array.name)) return array.name;
    }
  }
  return "";
}

bool adds_to(const KeptRow& row, const For& loop) {
  const Store* store = addition(loop);
  return store != nullptr && store->array == row.array;
}

std::map<std::string, ValueType> widened_arrays(const Kernel& kernel) {
  std::map<std::string, ValueType> arrays;
  for (const Array& array : kernel.arrays) {
    const auto* values = std::get_if<ArgumentValues>(&array.origin);
    if (values != nullptr && values->stored) arrays.emplace(array.name, *values->stored);
  }
  return arrays;
}

std::optional<KeptRow> kept_row(const Fill& fill, const std::vector<StatementPtr>& after,
                                const std::map<std::string, ValueType>& widened) {
  if (!fill.row) return {};
  KeptRow row{fill.array, nullptr, fill.count};
  const auto may_be_added = [&](const ExpressionPtr& value) {
    Uses uses;
    collect_uses(value, uses);
    return uses.arrays.count(row.array) == 0 &&
           std::none_of(widened.begin(), widened.end(),
                        [&](const auto& array) { return uses.arrays.count(array.first) > 0; });
  };
  std::set<std::string> declared;
  bool only_added_to = true, is_inside = false;
  const auto visit = [&](const auto& self, const StatementPtr& statement, bool inside) -> void {
    const auto* loop = as<For>(statement);
    const Store* store = loop == nullptr ? nullptr : addition(*loop);
    if (store != nullptr && store->array == row.array) {
      const auto first = first_element(*loop, *store);
      only_added_to = only_added_to && first != nullptr && equal(loop->end, fill.count) &&
                      (row.first == nullptr || equal(row.first, first)) && may_be_added(store->value);
      row.first = first;
      is_inside = is_inside || inside;
      return;
    }
    only_added_to = only_added_to && !accesses_itself(statement, row.array);
    const bool repeats = loop != nullptr || is_any<Merge>(statement);
    for_each_child(statement, [&](const StatementPtr& child) { self(self, child, inside || repeats); });
  };
  for (const auto& statement : after) {
    visit(visit, statement, false);
    collect_declared(statement, declared);
  }
  if (!only_added_to || !is_inside || row.first == nullptr || mentions(row.first, declared)) return {};
  return row;
}

}  // namespace schaas::loop_ir

#include "compiler/codegen/kept_row.h"

#include <set>

#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Additions to a row in memory wait for each other by way of the cache: the sums of one group of entries are
// loaded and stored again for the next. Rows of few registers are kept instead. The loops over their elements
// are printed register by register, each under a condition on the extent that a version for the extent
// decides.
namespace schaas::codegen {
namespace {

using loop_ir::Store;

/// Returns the only statement of the loop's body when it adds to an element; else null.
const Store* addition(const loop_ir::For& loop) {
  const auto* store = loop_ir::as<Store>(loop.body);
  if (store == nullptr || store->mode != loop_ir::Write::fold || store->monoid != operators::Monoid::sum ||
      loop.shape != loop_ir::Shape::simd)
    return nullptr;
  const auto* begin = std::get_if<loop_ir::Integer>(&loop.begin->node);
  return begin != nullptr && begin->value == 0 ? store : nullptr;
}

/// Returns the index of the first element that the loop adds to, when the others follow; else null.
loop_ir::ExpressionPtr first_element(const loop_ir::For& loop, const Store& store) {
  const std::set<std::string> lanes = {loop.variable};
  if (!loop_ir::is_vector_value(store.value, loop.variable, lanes)) return nullptr;
  if (loop_ir::is_name(store.index, loop.variable)) return loop_ir::integer(0);
  const auto* sum = loop_ir::arguments_of(store.index, operators::Function::add);
  if (sum == nullptr || !loop_ir::is_name(sum->back(), loop.variable) ||
      loop_ir::mentions(sum->front(), lanes))
    return nullptr;
  return sum->front();
}

template <class Part>
bool uses_array(const Part& part, const std::string& array) {
  loop_ir::Uses uses;
  loop_ir::collect_uses(part, uses);
  return uses.arrays.count(array) > 0;
}

/// The statement accesses the array outside of the statements inside it.
bool accesses_itself(const loop_ir::StatementPtr& statement, const std::string& array) {
  if (const auto* branch = loop_ir::as<loop_ir::If>(statement)) return uses_array(branch->condition, array);
  // Bounds of loops are indices.
  return !loop_ir::is_any<loop_ir::Block, loop_ir::For, loop_ir::Merge>(statement) &&
         uses_array(statement, array);
}

}  // namespace

bool adds_to(const KeptRow& row, const loop_ir::For& loop) {
  const Store* store = addition(loop);
  return store != nullptr && store->array == row.array;
}

std::optional<KeptRow> kept_row(const loop_ir::Fill& fill, const std::vector<loop_ir::StatementPtr>& after,
                                const CExpressions& expressions) {
  if (!fill.row) return {};
  KeptRow row{fill.array, nullptr, fill.count};
  std::set<std::string> declared;
  bool only_added_to = true, is_inside = false;
  const auto visit = [&](const auto& self, const loop_ir::StatementPtr& statement, bool inside) -> void {
    const auto* loop = loop_ir::as<loop_ir::For>(statement);
    const Store* store = loop == nullptr ? nullptr : addition(*loop);
    if (store != nullptr && store->array == row.array) {
      const auto first = first_element(*loop, *store);
      loop_ir::Uses uses;
      loop_ir::collect_uses(statement, uses);
      only_added_to = only_added_to && first != nullptr && loop_ir::equal(loop->end, fill.count) &&
                      (row.first == nullptr || loop_ir::equal(row.first, first)) &&
                      !uses_array(store->value, row.array) && !expressions.widens(uses);
      row.first = first;
      is_inside = is_inside || inside;
      return;
    }
    only_added_to = only_added_to && !accesses_itself(statement, row.array);
    const bool repeats = loop != nullptr || loop_ir::is_any<loop_ir::Merge>(statement);
    loop_ir::for_each_child(
        statement, [&](const loop_ir::StatementPtr& child) { self(self, child, inside || repeats); });
  };
  for (const auto& statement : after) {
    visit(visit, statement, false);
    loop_ir::collect_declared(statement, declared);
  }
  if (!only_added_to || !is_inside || row.first == nullptr || loop_ir::mentions(row.first, declared))
    return {};
  return row;
}

}  // namespace schaas::codegen

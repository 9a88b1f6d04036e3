#include "compiler/codegen/kept_row.h"

#include <set>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/substitute.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"
#include "compiler/loop_ir/vector_form.h"

// Additions to a row in memory wait for each other by way of the cache. The sums of one group of entries are
// loaded and stored again for the next. Rows of few registers are kept instead. The loops over their elements
// are printed register by register. Each register has a condition on the extent, which a version for the
// extent decides.
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

/// Prints the statements from a fill on, when what it clears is kept in registers; else returns false.
bool CStatements::print_kept_row(const std::vector<loop_ir::StatementPtr>& statements, std::size_t fill) {
  const auto* cleared = loop_ir::as<loop_ir::Fill>(statements[fill]);
  if (cleared == nullptr || kept_ != nullptr || dialect_ != Dialect::c || blocks_ == Blocks::few)
    return false;
  const auto at = statements.begin() + static_cast<std::ptrdiff_t>(fill);
  const auto row = kept_row(*cleared, {at + 1, statements.end()}, expressions_);
  if (!row) return false;
  const std::string count = expression(row->count), first = row->array + " + " + expression(row->first);
  const auto width = [](int registers) { return std::to_string(registers) + " * WIDTH(vec)"; };
  text_.line("const int " + row->condition() + " = " + count + " <= " + width(kept_registers) + ";");
  std::string parts;
  for (int n = 0; n < kept_registers; ++n) parts += (n == 0 ? "vec " : ", ") + row->part(n) + " = {0}";
  text_.line(parts + ";");
  text_.open("if (!" + row->condition() + ")");
  print_fill(*cleared);
  text_.close();
  kept_ = &*row;
  for (auto each = at + 1; each != statements.end(); ++each) print(*each);
  kept_ = nullptr;
  text_.open("if (" + row->condition() + ")");
  for (int n = 0; n < kept_registers; ++n) {
    const std::string to = first + " + " + width(n);
    text_.line("if (" + width(n + 1) + " <= " + count + ") *(vec*)(" + to + ") = " + row->part(n) + ";");
    text_.line("else if (" + width(n) + " < " + count + ") store_first(" + to + ", " + row->part(n) + ", " +
               count + " - " + width(n) + ");");
  }
  text_.close();
  return true;
}

void CVectorLoops::print_kept(const loop_ir::For& loop, const KeptRow& row) {
  varying_ = {loop.variable};
  open_range(loop);
  const auto& store = std::get<loop_ir::Store>(loop.body->node);
  const auto add = [&](const std::string& condition, const Block& block, int part) {
    text_.open(condition);
    text_.line(row.part(part) + " += " + register_of(store.value, block, part) + ";");
    text_.close();
  };
  for (int part = 0; part < kept_registers; ++part) {
    const std::string before = std::to_string(part) + " * WIDTH(vec)";
    Block block{"vec", part + 1};
    add("if (" + std::to_string(part + 1) + " * WIDTH(vec) <= " + loop.variable + "_end)", block, part);
    block.first = loop.variable + "_end - " + before;
    add("else if (" + before + " < " + loop.variable + "_end)", block, part);
  }
  text_.close();
}

}  // namespace schaas::codegen

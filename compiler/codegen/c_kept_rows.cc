#include <algorithm>
#include <utility>

#include "compiler/codegen/c_statements.h"
#include "compiler/loop_ir/traversal.h"
#include "compiler/loop_ir/uses.h"

// Additions to a row in memory wait for each other by way of the cache. The sums of one group of entries are
// loaded and stored again for the next. Rows of few registers are kept instead. The loops over their elements
// are printed register by register. Each register has a condition on the extent, which a version for the
// extent decides.
namespace schaas::codegen {
namespace {

using loop_ir::KeptRow;

/// Vector registers that a kept row may fill: half of those of x86-64-v3, the others hold what is added.
constexpr int kept_registers = 8;

std::string width(int registers) { return std::to_string(registers) + " * WIDTH(vec)"; }
/// Returns the name of one of the row's registers.
std::string part_of(const KeptRow& row, int number) { return row.array + "_row" + std::to_string(number); }
/// Returns the name of the condition that the row is kept in this run.
std::string condition_of(const KeptRow& row) { return row.array + "_kept"; }

}  // namespace

/// Prints the statements from a fill on, when what it clears is kept in registers; else returns false.
bool CStatements::print_kept_row(const std::vector<loop_ir::StatementPtr>& statements, std::size_t fill) {
  const auto* cleared = loop_ir::as<loop_ir::Fill>(statements[fill]);
  if (cleared == nullptr || kept_ != nullptr || dialect_ != Dialect::c || blocks_ == Blocks::few)
    return false;
  const auto at = statements.begin() + static_cast<std::ptrdiff_t>(fill);
  const std::vector<loop_ir::StatementPtr> after(at + 1, statements.end());
  const auto row = loop_ir::kept_row(*cleared, after, expressions_.narrow_arrays());
  if (!row) return false;
  const std::string count = expression(row->count), first = row->array + " + " + expression(row->first);
  text_.line("const int " + condition_of(*row) + " = " + count + " <= " + width(kept_registers) + ";");
  std::string parts;
  for (int n = 0; n < kept_registers; ++n) parts += (n == 0 ? "vec " : ", ") + part_of(*row, n) + " = {0}";
  text_.line(parts + ";");
  text_.open("if (!" + condition_of(*row) + ")");
  print_fill(*cleared);
  text_.close();
  kept_ = &*row;
  print_block(after);
  kept_ = nullptr;
  text_.open("if (" + condition_of(*row) + ")");
  for (int n = 0; n < kept_registers; ++n) {
    const std::string to = first + " + " + width(n);
    text_.line("if (" + width(n + 1) + " <= " + count + ") *(vec*)(" + to + ") = " + part_of(*row, n) + ";");
    text_.line("else if (" + width(n) + " < " + count + ") store_first(" + to + ", " + part_of(*row, n) +
               ", " + count + " - " + width(n) + ");");
  }
  text_.close();
  return true;
}

/// Prints a loop that adds to the row: to its registers, or to memory.
void CStatements::print_addition(const loop_ir::For& loop) {
  const KeptRow* row = std::exchange(kept_, nullptr);
  text_.open("if (" + condition_of(*row) + ")");
  CVectorLoops(text_, expressions_, blocks_).print_kept(loop, *row);
  text_.close();
  text_.open("else");
  print_for(loop);
  text_.close();
  kept_ = row;
}

void CVectorLoops::print_kept(const loop_ir::For& loop, const KeptRow& row) {
  varying_ = {loop.variable};
  open_range(loop);
  const auto& store = std::get<loop_ir::Store>(loop.body->node);
  const auto add = [&](const std::string& condition, const Block& block, int part) {
    text_.open(condition);
    text_.line(part_of(row, part) + " += " + register_of(store.value, block, part) + ";");
    text_.close();
  };
  for (int part = 0; part < kept_registers; ++part) {
    const std::string before = width(part);
    Block block{"vec", part + 1};
    add("if (" + width(part + 1) + " <= " + loop.variable + "_end)", block, part);
    block.first = loop.variable + "_end - " + before;
    add("else if (" + before + " < " + loop.variable + "_end)", block, part);
  }
  text_.close();
}

}  // namespace schaas::codegen

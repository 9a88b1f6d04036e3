#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/c_expressions.h"
#include "compiler/loop_ir/nodes.h"

namespace schaas::codegen {

/// Vector registers that a kept row may fill: half of those of x86-64-v3, the others hold what is added.
constexpr int kept_registers = 8;

/// A row of a result that stays in vector registers from its clearing to the end of the block, when it is
/// short enough. This is scalar replacement (Callahan, Carr, Kennedy, PLDI 1990).
struct KeptRow {
  std::string array;
  loop_ir::ExpressionPtr first, count;  ///< the index of its first element, and its elements

  /// Name of the condition that it is kept in this run.
  std::string condition() const { return array + "_kept"; }
  /// Name of one of its registers.
  std::string part(int number) const { return array + "_row" + std::to_string(number); }
};

/// The loop adds to each element of the row once.
bool adds_to(const KeptRow& row, const loop_ir::For& loop);

/// Returns the row that `fill` clears, or nothing. The statements after it in the block only add to the row,
/// in loops over all its elements that may run in vector registers.
std::optional<KeptRow> kept_row(const loop_ir::Fill& fill, const std::vector<loop_ir::StatementPtr>& after,
                                const CExpressions& expressions);

}  // namespace schaas::codegen

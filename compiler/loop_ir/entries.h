#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::loop_ir {

/// Returns the statement that binds the coordinate, a Load, at the variable of a loop over entries; else
/// null.
const Let* coordinate_let(const For& loop);

/// The loop is scalar, has step 1, and visits entries of an operand, whose coordinates it binds; the end of
/// the stored coordinates is known.
bool has_operand_entries(const For& loop, const Kernel& kernel);

/// Returns the first position of the row at an index, by the arrays that lead to it.
ExpressionPtr first_position(const RowEntries& row, ExpressionPtr at);

}  // namespace schaas::loop_ir

#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"

namespace schaas::loop_ir {

/// Returns the result's values when vector loops set them, so that streaming stores apply; else "".
std::string streaming_target(const Kernel& kernel);
/// The statement sets elements of the array in vector loops.
bool sets_by_vectors(const StatementPtr& statement, const std::string& array);

/// A row of a result that stays in vector registers from its clearing to the end of the block, when it is
/// short enough. This is scalar replacement (Callahan, Carr, Kennedy, PLDI 1990).
struct KeptRow {
  std::string array;
  ExpressionPtr first, count;  ///< the index of its first element, and its elements
};
/// The loop adds to each element of the row once.
bool adds_to(const KeptRow& row, const For& loop);
/// Returns the row that `fill` clears, or nothing. The statements after it in the block only add to the row,
/// in loops over all its elements that may run in vector registers. None reads an array of `widened`, whose
/// elements no register loads in part.
std::optional<KeptRow> kept_row(const Fill& fill, const std::vector<StatementPtr>& after,
                                const std::map<std::string, ValueType>& widened);
/// Returns the arrays of operands in fewer bits than those of values, which loads widen.
std::map<std::string, ValueType> widened_arrays(const Kernel& kernel);

}  // namespace schaas::loop_ir

#include "compiler/loop_ir/entries.h"

#include <algorithm>

// Coordinates that phases write belong to the result, whose end is still moving; they are no operand's.
namespace schaas::loop_ir {

const Let* coordinate_let(const For& loop) {
  if (loop.entries.empty()) return nullptr;
  const auto coordinate = load(loop.entries, name(loop.variable));
  for (const auto& each : statements_of(loop.body)) {
    const auto* let = as<Let>(each);
    if (let != nullptr && let->type == Type::index && equal(let->value, coordinate)) return let;
  }
  return nullptr;
}

bool has_operand_entries(const For& loop, const Kernel& kernel) {
  if (coordinate_let(loop) == nullptr || loop.shape != Shape::scalar || loop.step != 1) return false;
  return std::any_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const Array& each) {
    return each.name == loop.entries && !each.written && std::holds_alternative<Coordinates>(each.origin);
  });
}

ExpressionPtr first_position(const RowEntries& row, ExpressionPtr at) {
  for (const auto& array : row.positions) at = load(array, std::move(at));
  return at;
}

}  // namespace schaas::loop_ir

#include "compiler/loop_ir/entries.h"

#include <algorithm>

// Recognises loops over the entries of an operand. Coordinates that phases write are excluded: they belong
// to the result, whose end is still moving.
namespace schaas::loop_ir {

const Let* coordinate_let(const For& loop) {
  for (const auto& each : statements_of(loop.body)) {
    const auto* let = std::get_if<Let>(&each->node);
    const auto* load = let != nullptr ? std::get_if<Load>(&let->value->node) : nullptr;
    const auto* at = load != nullptr ? std::get_if<Name>(&load->index->node) : nullptr;
    if (at != nullptr && at->name == loop.variable && let->type == Type::index) return let;
  }
  return nullptr;
}

bool iterates_entries(const For& loop, const Kernel& kernel) {
  const Let* coordinate = coordinate_let(loop);
  if (coordinate == nullptr || loop.shape != Shape::scalar || loop.step != 1) return false;
  const auto& from = std::get<Load>(coordinate->value->node).array;
  return std::any_of(kernel.arrays.begin(), kernel.arrays.end(), [&](const Array& each) {
    return each.name == from && !each.written && std::holds_alternative<Coordinates>(each.origin);
  });
}

}  // namespace schaas::loop_ir

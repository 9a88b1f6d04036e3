#include "compiler/lower/emit/facts/shared_arrays.h"

#include <utility>

namespace schaas::lower {

using loop_ir::Element;
using loop_ir::ExpressionPtr;
using loop_ir::Shared;

void SharedArrays::add_values(int tensor, const std::vector<int>& indices) {
  const int slot = count_++;
  arrays_.add(tensor, "", {"", Element::value, Shared{slot, arrays_.elements(tensor, indices)}, true});
}

void SharedArrays::set_stored(int tensor) {
  for (auto& known : kernel_.arrays) {
    if (known.name == arrays_.values(tensor)) std::get<Shared>(known.origin).stored = true;
  }
}

std::string SharedArrays::add_flags(int tensor, const std::vector<int>& indices) {
  const int slot = count_++;
  return arrays_.add(tensor, "_set",
                     {"", Element::byte, Shared{slot, extents_.product(tensor, indices)}, true});
}

std::string SharedArrays::add_row_index(int tensor, const ExpressionPtr& rows) {
  const Shared shared{count_++, loop_ir::add(rows, loop_ir::integer(1))};
  return arrays_.add(tensor, "_pos1", {"", arrays_.index_element(), shared, true});
}

std::string SharedArrays::add_referenced(const Operand& operand, int level) {
  const std::string suffix = "_ref" + std::to_string(level);
  if (auto known = arrays_.declared(operand.tensor, suffix); !known.empty()) return known;
  const int argument = tree_.tensors[static_cast<std::size_t>(operand.tensor)].argument;
  Shared shared{count_++, extents_.of(operand.indices[static_cast<std::size_t>(level)])};
  shared.referenced = loop_ir::ReferencedCoordinates{argument, level};
  return arrays_.add(operand.tensor, suffix, {"", Element::index64, std::move(shared), false});
}

std::string SharedArrays::add_counts(int level, const ExpressionPtr& iterations) {
  const int slot = count_++;
  kernel_.counters.push_back({level, slot});
  // One more than iterations: after the client's scan the last one is the total.
  return arrays_.add(
      0, "_counts" + std::to_string(level),
      {"", Element::index64, Shared{slot, loop_ir::add(iterations, loop_ir::integer(1))}, true});
}

}  // namespace schaas::lower

#include "compiler/lower/emit/facts/kernel_arrays.h"

#include <algorithm>

namespace schaas::lower {

using loop_ir::ExpressionPtr;

std::string KernelArrays::add(int tensor, const std::string& suffix, loop_ir::Array array) {
  auto& text = arrays_[{tensor, suffix}];
  if (!text.empty()) return text;
  const auto& description = tree_.tensors[static_cast<std::size_t>(tensor)];
  text = names_.fresh((description.temporary() ? "w" : Names::base(description.name, "X")) + suffix);
  array.name = text;
  kernel_.arrays.push_back(std::move(array));
  return text;
}

std::string KernelArrays::declared(int tensor, const std::string& suffix) const {
  const auto found = arrays_.find({tensor, suffix});
  return found == arrays_.end() ? "" : found->second;
}

std::string KernelArrays::values(int tensor) {
  const auto& description = tree_.tensors[static_cast<std::size_t>(tensor)];
  // Temporaries get their memory where their branch is emitted, operands where they are first read.
  if (description.temporary()) {
    const auto found = arrays_.find({tensor, ""});
    SCHAAS_CHECK(found != arrays_.end(), "a temporary is used before it has memory");
    return found->second;
  }
  const auto& format =
      problem_.formats.at(problem_.tensors()[static_cast<std::size_t>(description.argument)]);
  return add(
      tensor, "",
      {"", loop_ir::Element::value, loop_ir::ArgumentValues{description.argument, format.values}, false});
}

/// Declares positions or coordinates.
std::string KernelArrays::add_indices(int tensor, int level, const std::string& suffix,
                                      loop_ir::Array array) {
  array.element = index_element();
  return add(tensor, suffix + std::to_string(level), std::move(array));
}

loop_ir::Element KernelArrays::index_element() const {
  return problem_.position_bits == 32 ? loop_ir::Element::index32 : loop_ir::Element::index64;
}

std::string KernelArrays::positions(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return add_indices(tensor, level, "_pos", {"", {}, loop_ir::Positions{argument, level}, false});
}

std::string KernelArrays::coordinates(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return add_indices(tensor, level, "_crd", {"", {}, loop_ir::Coordinates{argument, level}, false});
}

std::string KernelArrays::held(int tensor, int level) {
  const int argument = tree_.tensors[static_cast<std::size_t>(tensor)].argument;
  return add(tensor, "_held" + std::to_string(level),
             {"", loop_ir::Element::byte, loop_ir::Coordinates{argument, level}, false});
}

ExpressionPtr KernelArrays::entries(const Operand& operand, int level) {
  if (level < 0) return loop_ir::integer(1);
  const auto kind =
      tree_.tensors[static_cast<std::size_t>(operand.tensor)].levels[static_cast<std::size_t>(level)];
  // The client asks before any phase has indexed the rows of a list; the list tells how many entries it has.
  if (level == 1 && tree_.tensors[static_cast<std::size_t>(operand.tensor)].has_row_index)
    return loop_ir::load(positions(operand.tensor, 0), loop_ir::integer(1));
  // A dense level has all coordinates below each parent, a singleton one; the last position of others counts
  // their entries.
  auto parents = entries(operand, level - 1);
  if (format::computes_positions(kind))
    return loop_ir::multiply(std::move(parents),
                             extents_.of(operand.indices[static_cast<std::size_t>(level)]));
  if (format::is_singleton(kind)) return parents;
  return loop_ir::load(positions(operand.tensor, level), std::move(parents));
}

ExpressionPtr KernelArrays::elements(int tensor, const std::vector<int>& indices) {
  const int by = tree_.tensors[static_cast<std::size_t>(tensor)].entries_of;
  if (by < 0) return extents_.product(tensor, indices);
  const Operand& walked = tree_.operands[static_cast<std::size_t>(by)];
  return entries(walked, static_cast<int>(walked.indices.size()) - 1);
}

void KernelArrays::set_written(int tensor) { set_written(values(tensor)); }

void KernelArrays::set_written(const std::string& array) {
  for (auto& known : kernel_.arrays) {
    if (known.name == array) known.written = true;
  }
}

bool KernelArrays::is_private(const std::string& array) const {
  return std::any_of(kernel_.arrays.begin(), kernel_.arrays.end(), [&](const loop_ir::Array& known) {
    return known.name == array && std::holds_alternative<loop_ir::Scratch>(known.origin);
  });
}

}  // namespace schaas::lower

#include "compiler/lower/emit/facts/scratch_arrays.h"

#include <utility>

namespace schaas::lower {

using loop_ir::Element;
using loop_ir::ExpressionPtr;

namespace {

ExpressionPtr capacity() { return loop_ir::name("capacity"); }

/// Returns the largest number of occupied slots.
ExpressionPtr half_capacity() {
  return loop_ir::apply(operators::Function::divide, {capacity(), loop_ir::integer(2)});
}

}  // namespace

std::string ScratchArrays::add(int tensor, const std::string& suffix, Element element, ExpressionPtr count) {
  return arrays_.add(tensor, suffix, {"", element, loop_ir::Scratch{std::move(count)}, true});
}

void ScratchArrays::add_values(int tensor, const std::vector<int>& indices) {
  add(tensor, "", Element::value, extents_.product(tensor, indices));
}

void ScratchArrays::add_carry_out(int tensor, const std::vector<int>& indices) {
  arrays_.add(tensor, "", {"", Element::value, loop_ir::CarryOut{extents_.product(tensor, indices)}, true});
}

std::string ScratchArrays::add_flags(int tensor, const std::vector<int>& indices) {
  return add(tensor, "_set", Element::byte, extents_.product(tensor, indices));
}

std::string ScratchArrays::add_occupancy(int tensor, const std::vector<int>& indices) {
  return add(tensor, "_set", Element::byte, loop_ir::occupancy_bytes(extents_.product(tensor, indices)));
}

std::string ScratchArrays::add_list(int tensor, const std::vector<int>& indices) {
  const auto count = loop_ir::list_elements(extents_.product(tensor, indices));
  return add(tensor, "_list", arrays_.index_element(), count);
}

std::string ScratchArrays::add_epochs(int tensor, const std::vector<int>& indices) {
  return add(tensor, "_epochs", Element::index64, extents_.product(tensor, indices));
}

std::string ScratchArrays::add_last_epoch(int tensor) {
  return add(tensor, "_last_epoch", Element::index64, loop_ir::integer(1));
}

void ScratchArrays::add_table(int tensor, const std::vector<int>& rest) {
  // Each slot holds the elements of the levels below the first.
  add(tensor, "", Element::value, loop_ir::multiply(capacity(), extents_.product(tensor, rest)));
}

std::string ScratchArrays::add_keys(int tensor) {
  return add(tensor, "_keys", arrays_.index_element(), capacity());
}

std::string ScratchArrays::add_taken(int tensor) {
  return add(tensor, "_taken", arrays_.index_element(), half_capacity());
}

std::string ScratchArrays::add_table_list(int tensor) {
  return add(tensor, "_list", arrays_.index_element(), half_capacity());
}

}  // namespace schaas::lower

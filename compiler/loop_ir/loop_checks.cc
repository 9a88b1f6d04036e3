#include "compiler/loop_ir/loop_checks.h"

#include <algorithm>
#include <string>

#include "compiler/loop_ir/entries.h"
#include "compiler/loop_ir/kernel_checks.h"
#include "compiler/loop_ir/uses.h"

// Attributes are checked one by one, each against the loop's own form. A pass that reads an attribute need
// not look at the form again.
namespace schaas::loop_ir {
namespace {

using support::Result;

/// Checks the step and the unroll factor, which order iterations.
Result<void> check_order(const For& loop) {
  if (loop.step < 1 || (loop.step > 1 && loop.shape != Shape::scalar))
    return wrong("`" + loop.variable + "` advances by " + std::to_string(loop.step));
  if (loop.unroll < 1 || (loop.unroll > 1 && loop.shape != Shape::scalar))
    return wrong("`" + loop.variable + "` is unrolled " + std::to_string(loop.unroll) + " times");
  return {};
}

Result<void> check_part(const For& loop) {
  if (loop.part == Part::jammed && loop.step == 1)
    return wrong("`" + loop.variable + "` is jammed, but takes one value at a time");
  if (loop.part == Part::remainder && !std::holds_alternative<Name>(loop.begin->node))
    return wrong("`" + loop.variable + "` is a remainder, but does not begin at a counter");
  return {};
}

Result<void> check_entries(const For& loop, const Kernel& kernel) {
  if (loop.entries.empty()) return {};
  const auto array = std::find_if(kernel.arrays.begin(), kernel.arrays.end(),
                                  [&](const Array& each) { return each.name == loop.entries; });
  const bool holds_entries = array != kernel.arrays.end() &&
                             (array->element == Element::index32 || array->element == Element::index64);
  if (!holds_entries)
    return wrong("`" + loop.variable + "` visits entries of `" + loop.entries + "`, which holds no indices");
  return {};
}

}  // namespace

Result<void> check_attributes(const For& loop, const Kernel& kernel, Surroundings around) {
  SCHAAS_RETURN_IF_ERROR(check_order(loop));
  SCHAAS_RETURN_IF_ERROR(check_part(loop));
  SCHAAS_RETURN_IF_ERROR(check_entries(loop, kernel));
  if (loop.interleaved && !(around.in_mapping && mentions(loop.begin, {"lane"})))
    return wrong("`" + loop.variable + "` is interleaved, but does not begin at a thread's lane");
  const auto body = statements_of(loop.body);
  const bool only_sets = std::all_of(body.begin(), body.end(), [](const StatementPtr& each) {
    const auto* store = as<Store>(each);
    return store != nullptr && store->mode == Write::set;
  });
  if (loop.clears && !only_sets)
    return wrong("`" + loop.variable + "` clears elements, but does not only store them");
  const bool between = arguments_of(loop.begin, operators::Function::maximum) != nullptr &&
                       arguments_of(loop.end, operators::Function::minimum) != nullptr;
  if (loop.cut && !between) return wrong("`" + loop.variable + "` is cut, but not at the range of the phase");
  const bool gathers = around.in_vector_loop && has_operand_entries(loop, kernel);
  if (loop.prefetch_distance < 0 || (loop.prefetch_distance > 0 && !gathers))
    return wrong("`" + loop.variable + "` prefetches, but does not iterate over entries in a vector loop");
  return {};
}

}  // namespace schaas::loop_ir

#include "compiler/codegen/argument_checks.h"

#include <variant>

// Conditions that both printers test before a kernel reads anything: value type, width of positions,
// required extents. A tensor of another type would be read as other numbers. Extents that the code has as
// constants must be those of the tensors.
namespace schaas::codegen {
namespace {

std::string argument(int number) { return "args[" + std::to_string(number) + "]"; }

}  // namespace

std::vector<std::string> wrong_arguments(const loop_ir::Kernel& kernel) {
  std::vector<std::string> conditions;
  for (const auto& array : kernel.arrays) {
    if (const auto* values = std::get_if<loop_ir::ArgumentValues>(&array.origin)) {
      const auto type = values->stored.value_or(kernel.value_type);
      conditions.push_back(argument(values->argument) +
                           "->value_type != " + std::to_string(static_cast<int>(type)));
    } else if (const auto* positions = std::get_if<loop_ir::Positions>(&array.origin)) {
      conditions.push_back(argument(positions->argument) + "->levels[" + std::to_string(positions->level) +
                           "].index_bits != " + (array.element == loop_ir::Element::index32 ? "32" : "64"));
    }
  }
  for (const auto& extent : kernel.extents) {
    if (extent.required)
      conditions.push_back(argument(extent.argument) + "->extents[" + std::to_string(extent.mode) +
                           "] != " + std::to_string(*extent.required));
  }
  return conditions;
}

std::string print_fixed_extents(const loop_ir::Kernel& kernel, const std::string& prefix, CText& out) {
  std::string entries;
  int count = 0;
  for (const auto& extent : kernel.extents) {
    if (!extent.required) continue;
    entries += (count++ > 0 ? ", {" : "{") + std::to_string(extent.argument) + ", " +
               std::to_string(extent.mode) + ", " + std::to_string(*extent.required) + "}";
  }
  if (count == 0) return "0, 0";
  out.line("static const schaas_fixed_extent " + prefix + "fixed[] = {" + entries + "};");
  return std::to_string(count) + ", " + prefix + "fixed";
}

}  // namespace schaas::codegen

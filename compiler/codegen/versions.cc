#include "compiler/codegen/versions.h"

namespace schaas::codegen {
namespace {

Version of_size(const std::vector<std::string>& extents, std::int64_t size) {
  Version version;
  const std::string number = std::to_string(size);
  for (const auto& extent : extents) {
    version.condition += (version.condition.empty() ? "" : " && ") + extent + " == " + number;
    version.arguments += ", " + number;
  }
  return version;
}

/// Returns the version for extents that fill from `first` to below `bound` vector registers.
Version of_registers(const std::vector<std::string>& extents, int first, int bound) {
  const auto registers = [](int count) { return std::to_string(count) + " * WIDTH(vec)"; };
  Version version;
  for (const auto& extent : extents) {
    if (!version.condition.empty()) version.condition += " && ";
    if (first > 0) version.condition += extent + " >= " + registers(first) + " && ";
    version.condition += extent + " < " + registers(bound);
    version.arguments +=
        ", " + registers(first) + " + (" + extent + " & (" + registers(bound - first) + " - 1))";
  }
  return version;
}

}  // namespace

std::vector<Version> versions(const loop_ir::Specialisation& specialisation) {
  std::vector<Version> all;
  for (const std::int64_t size : specialisation.sizes) all.push_back(of_size(specialisation.extents, size));
  int first = 0;
  for (const int bound : specialisation.registers) {
    all.push_back(of_registers(specialisation.extents, first, bound));
    first = bound;
  }
  return all;
}

}  // namespace schaas::codegen

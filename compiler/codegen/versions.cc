#include "compiler/codegen/versions.h"

#include <utility>

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

std::vector<std::string> specialised_extents(const loop_ir::Specialisation& specialisation) {
  std::vector<std::string> all = specialisation.extents;
  all.insert(all.end(), specialisation.singles.begin(), specialisation.singles.end());
  return all;
}

std::vector<Version> versions(const loop_ir::Specialisation& specialisation) {
  std::vector<Version> all;
  const auto add = [&](Version version) {
    for (const auto& extent : specialisation.singles) version.arguments += ", " + extent;
    all.push_back(std::move(version));
  };
  if (!specialisation.singles.empty()) all.push_back(of_size(specialised_extents(specialisation), 1));
  for (const std::int64_t size : specialisation.sizes) add(of_size(specialisation.extents, size));
  int first = 0;
  for (const int bound : specialisation.registers) {
    add(of_registers(specialisation.extents, first, bound));
    first = bound;
  }
  return all;
}

}  // namespace schaas::codegen

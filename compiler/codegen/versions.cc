#include "compiler/codegen/versions.h"

#include <utility>

namespace schaas::codegen {
namespace {

/// One version: the C condition on its extents under which it runs, and what is passed for them, each after
/// ", ". It tells the C compiler their size, or bounds of it.
struct Version {
  std::string condition, arguments;
  bool of_elements = false;  ///< all specialised extents are 1
};

Version of_size(const std::vector<std::string>& extents, std::int64_t size) {
  Version version;
  version.of_elements = size == 1;
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

/// Returns the versions in the order in which their conditions are asked.
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

std::string parameters_of(const VersionedFunction& function) {
  std::string all = function.parameters;
  for (const auto& extent : function.extents) all += ", int64_t " + extent;
  return all + (function.prefetches ? ", int prefetch" : "");
}

/// Returns the statement that calls NAME_of for these extents. It is inlined twice where rows are elements: a
/// test of the flag costs a tenth of their time, and little of other rows' (docs/performance/kernels.md).
std::string call_inlined(const VersionedFunction& function, const Version& version) {
  const std::string call = function.name + "_of(" + function.arguments + version.arguments;
  if (!function.prefetches) return "return " + call + ");";
  if (version.of_elements) return "return prefetch ? " + call + ", 1) : " + call + ", 0);";
  return "return " + call + ", prefetch);";
}

}  // namespace

std::vector<std::string> specialised_extents(const loop_ir::Specialisation& specialisation) {
  std::vector<std::string> all = specialisation.extents;
  all.insert(all.end(), specialisation.singles.begin(), specialisation.singles.end());
  return all;
}

void open_versioned(CText& out, const VersionedFunction& function) {
  out.open("static ALWAYS_INLINE int32_t " + function.name + "_of(" + parameters_of(function) + ")");
}

std::vector<std::string> print_versions(CText& out, const VersionedFunction& function,
                                        const loop_ir::Specialisation& specialisation) {
  std::vector<Version> all = versions(specialisation);
  Version general;
  for (const auto& extent : function.extents) general.arguments += ", " + extent;
  if (all.empty()) return {call_inlined(function, general)};
  const std::string arguments = function.arguments + general.arguments;
  const std::string parameters = parameters_of(function);
  all.push_back(std::move(general));
  std::vector<std::string> calls;
  for (const Version& version : all) {
    const std::string name = function.name + "_version_" + std::to_string(calls.size());
    out.open("static NOINLINE int32_t " + name + "(" + parameters + ")");
    out.line(call_inlined(function, version));
    out.close();
    calls.push_back((version.condition.empty() ? "" : "if (" + version.condition + ") ") + "return " + name +
                    "(" + arguments + (function.prefetches ? ", prefetch);" : ");"));
  }
  out.raw("\n");
  return calls;
}

}  // namespace schaas::codegen

#pragma once
#include <string>
#include <vector>

#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// One version of a phase: the C condition on its extents under which it runs, and what is passed for
/// them, each after ", ". It tells the C compiler their size, or bounds of it.
struct Version {
  std::string condition, arguments;
};

/// Returns the extents that are parameters of the versions, in the order of their arguments.
std::vector<std::string> specialised_extents(const loop_ir::Specialisation& specialisation);

/// Returns the versions of a specialised phase, in the order in which their conditions are asked.
std::vector<Version> versions(const loop_ir::Specialisation& specialisation);

}  // namespace schaas::codegen

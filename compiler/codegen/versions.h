#pragma once
#include <string>
#include <vector>

#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// The function NAME_of of a phase's statements, always inlined. Its specialised extents follow its other
/// parameters; the prefetch flag is the last one.
struct VersionedFunction {
  std::string name;
  std::string parameters, arguments;  ///< all before the extents; with types, and without
  std::vector<std::string> extents;
  bool prefetches = false;
};

/// Returns the extents that are parameters of the versions, in the order of their arguments.
std::vector<std::string> specialised_extents(const loop_ir::Specialisation& specialisation);

/// Prints the head of NAME_of.
void open_versioned(CText& out, const VersionedFunction& function);

/// Prints a function for each version, which is not inlined: the C compiler takes longer for one function
/// that holds them all. Returns the lines that call the one for the extents and the prefetch flag.
std::vector<std::string> print_versions(CText& out, const VersionedFunction& function,
                                        const loop_ir::Specialisation& specialisation);

}  // namespace schaas::codegen

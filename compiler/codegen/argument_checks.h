#pragma once
#include <string>
#include <vector>

#include "compiler/codegen/c_text.h"
#include "compiler/loop_ir/kernel.h"

namespace schaas::codegen {

/// Returns conditions in C, each true when an argument does not suit the kernel: by value type, position
/// width or required extent.
std::vector<std::string> wrong_arguments(const loop_ir::Kernel& kernel);

/// Prints the table of required extents, if there are any. Returns the descriptor's fields: count, table.
std::string print_fixed_extents(const loop_ir::Kernel& kernel, const std::string& prefix, CText& out);

}  // namespace schaas::codegen

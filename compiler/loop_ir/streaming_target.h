#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"

namespace schaas::loop_ir {

/// Returns the result's values when vector loops set them, so that streaming stores apply; else "".
std::string streaming_target(const Kernel& kernel);
/// The statement sets elements of the array in vector loops.
bool sets_by_vectors(const StatementPtr& statement, const std::string& array);

}  // namespace schaas::loop_ir

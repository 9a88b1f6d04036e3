#pragma once
#include <string>

#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// internal [loop-ir]
support::Diagnostic wrong(const std::string& what);

/// Its values, positions or coordinates.
bool belongs_to_result(const Array& array);

/// What of a kernel stands around its statements, whose names and arrays are known to be right: versions,
/// copies, counters.
support::Result<void> check_around(const Kernel& kernel);

}  // namespace schaas::loop_ir

#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// Checks that every name and array is declared once, before its use and with the right type (indices
/// address, values are computed), that sums are added to and other names are not, that only written arrays
/// are stored to, and that lanes loops keep their rule (nodes.h, Shape). Runs after lowering and on
/// everything parsed. Errors: internal [loop-ir] naming the offending statement.
support::Result<void> verify(const Kernel& kernel);

}  // namespace schaas::loop_ir

#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// Checks that every name and array is declared once, before its use and with the right type (indices
/// address, values are computed); that only accumulators are added to, and only written arrays are stored to;
/// that vector loops keep their rule (nodes.h, Shape). Runs after lowering and on parsed kernels. Errors:
/// internal [loop-ir] naming the statement.
support::Result<void> verify(const Kernel& kernel);

}  // namespace schaas::loop_ir

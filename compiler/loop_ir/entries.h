#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::loop_ir {

/// Where the body of a loop over positions binds the coordinate at its variable: that statement, of a Load;
/// else null.
const Let* coordinate_let(const For& loop);

/// A scalar loop one by one over positions of an operand whose coordinates it binds: up to where they are
/// stored is known.
bool goes_by_entries(const For& loop, const Kernel& kernel);

}  // namespace schaas::loop_ir

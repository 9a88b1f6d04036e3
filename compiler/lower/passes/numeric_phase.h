#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Gives numeric phases of a sparse result a second body (Phase::numeric) that writes values into an existing
/// structure. It omits coordinates, positions and statements that only they needed. Phases that append
/// through lists are left alone, since lists take most of their time. So are phases whose two bodies would be
/// equal.
loop_ir::Kernel add_numeric_phases(loop_ir::Kernel kernel);

}  // namespace schaas::lower

#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Gives each computing phase of a sparse result a second body (Phase::values) that stores values alone, for
/// runs that find the structure of the result as an earlier one left it: no coordinates, no positions, and
/// nothing that only they needed. Not to a phase that gathers what it appends in lists, most of whose time
/// goes there, nor where the two bodies would be the same.
loop_ir::Kernel add_values_alone(loop_ir::Kernel kernel);

}  // namespace schaas::lower

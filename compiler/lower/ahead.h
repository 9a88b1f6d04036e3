#pragma once
#include "compiler/loop_ir/kernel.h"

namespace schaas::lower {

/// Loops over entries that gather rows, with other loops after or before them for each few entries, or over a
/// fiber of a few below another level's, so that a processor does not come to load for the next ones: what
/// these will gather is asked for ahead (For::ahead).
/// docs/notes/performance.md, section 40.
loop_ir::Kernel ask_ahead(loop_ir::Kernel kernel);

}  // namespace schaas::lower

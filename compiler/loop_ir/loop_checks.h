#pragma once
#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// Statements around a loop.
struct Surroundings {
  bool in_vector_loop = false;
  bool in_mapping = false;  ///< a phase with a thread mapping
};

/// Checks the attributes of a loop: what passes read must be true of it. Errors: internal [loop-ir].
support::Result<void> check_attributes(const For& loop, const Kernel& kernel, Surroundings around);

}  // namespace schaas::loop_ir

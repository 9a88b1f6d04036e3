#pragma once
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "kernel_problem.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Compares the arguments with what a kernel's problem says of them: number,
/// formats, value type, position width, and one extent per index. `names` are for messages. Errors: invalid
/// [argument-count], [argument-format], [argument-type], [argument-positions],
/// [extent-mismatch], [extent-bound] (a kernel for one extent only).
support::Result<void> check_arguments(const KernelProblem& problem,
                                      const std::vector<PackedTensor*>& arguments,
                                      const std::vector<std::string>& names);

}  // namespace schaas::client

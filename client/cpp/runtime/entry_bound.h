#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "client/cpp/runtime/kernel_problem.h"

namespace schaas::client {

/// Returns a number of entries that a sparse matrix computed entry by entry does not exceed, nothing where
/// the operands do not bound it. `A = B + C` has no more entries than B and C together. `A = abs(B)` has no
/// more than B. Holds for loops without temporaries of their own, as those of the default nest are.
/// `arguments`: the result first.
std::optional<std::int64_t> entry_bound(const KernelProblem& problem,
                                        const std::vector<const schaas_tensor*>& arguments);

}  // namespace schaas::client

#pragma once
#include <string>
#include <vector>

#include "client/cpp/runtime/kernel_problem.h"
#include "compiler/support/result.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Compares the arguments with what a kernel's problem says of them: number,
/// formats, value type, position width, and one extent per index. `names` are for messages. Errors: invalid
/// [argument-count], [argument-format], [argument-type], [argument-positions],
/// [extent-mismatch], [extent-bound] (a kernel for one extent only).
support::Result<void> check_arguments(const KernelProblem& problem,
                                      const std::vector<PackedTensor*>& arguments,
                                      const std::vector<std::string>& names);

/// Compares the tensor that a caller gives for a result with what its statement makes. Errors: invalid
/// [result-shape], [argument-format], [argument-type].
support::Result<void> check_result(const Access& result, const format::TensorFormat& format, ValueType type,
                                   const std::vector<std::int64_t>& extents, const PackedTensor& given);

/// Compares the operand that an update starts from with the result as its kernel writes it; the operand's
/// values become those of the result. Errors: as above.
support::Result<void> check_updated(const Access& result, const PackedTensor& before,
                                    const PackedTensor& written);

}  // namespace schaas::client

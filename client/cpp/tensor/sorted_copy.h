#pragma once
#include <string>

#include "schaas/tensor.h"

namespace schaas::client {

/// True of tensors that sorted_copy takes: csr, csc and their like with more dense levels, coo matrices,
/// lists.
bool can_be_sorted(const schaas_tensor& view);

/// A copy with sorted entries, each once: repeated ones are added up, from the first to the last. Positions
/// ascend and coordinates lie inside their extents (Trust::bounds). Errors: exhausted [memory].
support::Result<PackedTensor> sorted_copy(const PackedTensor& tensor, const std::string& name);

}  // namespace schaas::client

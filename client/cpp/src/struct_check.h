#pragma once
#include <string>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"

namespace schaas::client {

/// Checks what the struct of a tensor says before any of its levels is read: an order up to max_order, no
/// missing list, a known value type, extents that are not negative, an order of modes that is a permutation,
/// values whose address is a multiple of their size. Constant time. Errors: invalid [tensor-structure].
support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name);

/// Checks what can be known of the levels without the contents of their arrays, of a tensor that passes
/// check_struct: known formats and widths, counts that agree and whose bytes can be counted, no missing or misaligned array.
/// For arrays that are trusted, or lie on a device. Constant time. Errors: as above.
support::Result<void> check_levels(const schaas_tensor& tensor, const std::string& name);

}  // namespace schaas::client

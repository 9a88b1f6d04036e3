#pragma once
#include <cstdint>
#include <string>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"

namespace schaas::client {

/// invalid [tensor-structure] about a tensor, and about one of its levels (counted from 0).
support::Diagnostic broken(const std::string& name, const std::string& what);
support::Diagnostic broken_level(const std::string& name, std::int32_t level, const std::string& what);

bool is_nonunique(const schaas_level& level);
bool is_singleton(const schaas_level& level);
/// Has a slot for every coordinate of each parent.
bool has_slots(const schaas_level& level);

/// Checks all that a tensor says but the contents of its arrays: an order up to max_order, no missing list, a
/// known value type, extents that are not negative, an order of modes that is a permutation, known formats
/// and widths of levels, singletons below nonunique levels alone, counts that agree and whose bytes can be
/// counted, no missing or misaligned array. Constant time. Errors: invalid [tensor-structure].
support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name);

}  // namespace schaas::client

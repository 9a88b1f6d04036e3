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

/// Checks a tensor in all but the contents of its arrays. The order is at most max_order, the value type is
/// known, no list is missing, and extents are not negative. The order of modes is a permutation; formats and
/// widths of levels are known; singletons stand below nonunique levels alone. Counts agree, and their bytes
/// can be counted; no array is missing or misaligned. Constant time. Errors: invalid [tensor-structure].
support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name);

}  // namespace schaas::client

#pragma once
#include <cstdint>
#include <string>

#include "compiler/format/level_format.h"
#include "compiler/support/result.h"
#include "proto/kernel_abi.h"

namespace schaas::client {

/// invalid [tensor-structure] about a tensor, and about one of its levels (counted from 0).
support::Diagnostic broken(const std::string& name, const std::string& what);
support::Diagnostic broken_level(const std::string& name, std::int32_t level, const std::string& what);

/// The format of a level whose number is known.
inline format::LevelFormat level_format(const schaas_level& level) {
  return static_cast<format::LevelFormat>(level.format);
}

/// Checks a tensor in all but the contents of its arrays. The order is at most max_order, the value type is
/// known, no list is missing, and extents are not negative. The order of modes is a permutation; formats and
/// widths of levels are known; singletons stand below nonunique levels alone. Counts agree, and their bytes
/// can be counted; no array is missing or misaligned. Constant time. Errors: invalid [tensor-structure].
support::Result<void> check_struct(const schaas_tensor& tensor, const std::string& name);

}  // namespace schaas::client

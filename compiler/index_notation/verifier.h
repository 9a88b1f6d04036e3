#pragma once
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// Checks the meaning of a parsed statement; `source` is the text it was parsed from (for carets).
/// Errors: invalid [rank-mismatch] (a tensor used with two different numbers of indices), [result-on-right],
/// [result-index-unbound] (with suggestion); unsupported [diagonal] (index repeated in one access),
/// [too-many-factors], [too-many-indices], [order-too-high] (Limits).
support::Result<void> verify(const Assignment& assignment, std::string_view source);

}  // namespace schaas::index_notation

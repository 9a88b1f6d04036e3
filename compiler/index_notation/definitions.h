#pragma once
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// The part of `verify` that looks at statements together: what is defined, in which order it is read, and
/// where extents come from. Ranks have been checked.
support::Result<void> verify_definitions(const Program& program, std::string_view source);

}  // namespace schaas::index_notation

#pragma once
#include <string_view>

#include "compiler/concrete_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::concrete_notation {

/// Inverse of print. Errors: invalid [tree-syntax] with caret, [nesting].
support::Result<StatementPtr> parse(std::string_view text);

}  // namespace schaas::concrete_notation

#pragma once
#include <string_view>

#include "compiler/loop_ir/kernel.h"
#include "compiler/support/result.h"

namespace schaas::loop_ir {

/// Inverse of print(Kernel). White space between words is free. Syntax only: `verify` checks meaning.
/// Errors: invalid [loops-syntax] with caret, [nesting].
support::Result<Kernel> parse(std::string_view text);

}  // namespace schaas::loop_ir

#pragma once
#include <string>

#include "compiler/operators/value_type.h"

namespace schaas::codegen {

/// Returns the declarations of the type of values in C: `value`, the unsigned `value_word`, and for integers
/// their range, and `stored`, the type of narrow operands. The toolchain compiles sources with
/// VALUE_IS_INTEGER with arithmetic that wraps around.
std::string value_declarations(operators::ValueType type);

}  // namespace schaas::codegen

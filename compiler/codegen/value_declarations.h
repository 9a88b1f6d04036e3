#pragma once
#include <string>

#include "compiler/operators/value_type.h"

namespace schaas::codegen {

/// Returns the declarations of the type of values in C: `value`, the unsigned `value_word`, VALUE_BYTES, and
/// for complex ones VALUE_IS_COMPLEX and `value_part`, for integers their range. The toolchain compiles
/// sources with VALUE_IS_INTEGER with arithmetic that wraps around.
std::string value_declarations(operators::ValueType type);

/// Returns what defines the functions that load operands of the type as values: value_of_i8, vec_of_i8. Needs
/// narrow_declarations() above it, which has those of bf16 and f16.
std::string stored_declarations(operators::ValueType type);

}  // namespace schaas::codegen

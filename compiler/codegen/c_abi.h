#pragma once
#include <string_view>

namespace schaas::codegen {

/// Returns the declarations of proto/kernel_abi.h as printed into every kernel; a test compares the two.
std::string_view abi_declarations();

}  // namespace schaas::codegen

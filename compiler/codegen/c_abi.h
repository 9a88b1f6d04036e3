#pragma once
#include <string_view>

namespace schaas::codegen {

/// The declarations of proto/kernel_abi.h as they are printed into every kernel; a test keeps the two in
/// step.
std::string_view abi_declarations();

}  // namespace schaas::codegen

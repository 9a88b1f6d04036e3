#pragma once
#include <string>

namespace schaas::support {

/// The processor of this machine as an instruction set, "native:1a2b3c4d". The digits distinguish processors
/// by name and features, so that code for one is not run by another. Thread-safe.
const std::string& native_isa();
/// `isa`, with "native" as the one of this machine.
std::string exact_isa(const std::string& isa);
/// The instruction set names one processor, this or another.
bool is_native(const std::string& isa);

}  // namespace schaas::support

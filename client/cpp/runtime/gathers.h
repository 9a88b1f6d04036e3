#pragma once
#include <string>

namespace schaas::client {

/// Gather instructions are faster than loads of single elements on this processor. Kernels have code for
/// both (SCHAAS_FLAG_GATHERS).
bool gathers_pay();
/// The same for a processor of this vendor, with what Linux tells about its sampling of gathered data in the
/// file `vulnerability`; mitigated processors take microcode for a gather.
bool gathers_pay(bool is_intel, const std::string& vulnerability);

}  // namespace schaas::client

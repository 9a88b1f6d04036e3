#pragma once
#include <string>

namespace schaas::kernels_cache {

/// Returns "HOST:PID" of this process, at most 48 letters: it tells who works on an item and who is
/// connected.
std::string process_name();

}  // namespace schaas::kernels_cache

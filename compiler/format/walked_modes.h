#pragma once
#include <string>

namespace schaas::format {

/// True when loops walk the entries of a mode of a tensor in this format rather than locate its coordinates.
/// A text that is no format has no such mode.
bool is_walked(const std::string& format, int order, int mode);

}  // namespace schaas::format

#pragma once
#include <optional>
#include <string>

namespace schaas::format {

/// Returns the level of a mode of a tensor in this format where loops walk its entries rather than locate its
/// coordinates. A text that is no format has no such level.
std::optional<int> walked_level(const std::string& format, int order, int mode);

}  // namespace schaas::format

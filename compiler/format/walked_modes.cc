#include "compiler/format/walked_modes.h"

#include <algorithm>

#include "compiler/format/blocks.h"
#include "compiler/format/tensor_format.h"

namespace schaas::format {

std::optional<int> walked_level(const std::string& format, int order, int mode) {
  const auto parsed = parse(without_blocks(format), order, "");
  if (!parsed.ok()) return std::nullopt;
  const auto found = std::find(parsed->mode_order.begin(), parsed->mode_order.end(), mode);
  if (found == parsed->mode_order.end()) return std::nullopt;
  const auto level = found - parsed->mode_order.begin();
  if (coordinates(parsed->levels[static_cast<std::size_t>(level)]) != Coordinates::list) return std::nullopt;
  return static_cast<int>(level);
}

}  // namespace schaas::format

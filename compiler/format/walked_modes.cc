#include "compiler/format/walked_modes.h"

#include <algorithm>

#include "compiler/format/blocks.h"
#include "compiler/format/tensor_format.h"

namespace schaas::format {

bool is_walked(const std::string& format, int order, int mode) {
  const auto parsed = parse(without_blocks(format), order, "");
  if (!parsed.ok()) return false;
  const auto level = std::find(parsed->mode_order.begin(), parsed->mode_order.end(), mode);
  return level != parsed->mode_order.end() &&
         coordinates(parsed->levels[static_cast<std::size_t>(level - parsed->mode_order.begin())]) ==
             Coordinates::list;
}

}  // namespace schaas::format

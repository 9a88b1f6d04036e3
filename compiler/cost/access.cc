#include "compiler/cost/access.h"

#include <algorithm>

namespace schaas::cost {

int weight(Access access) {
  switch (access) {
    case Access::contiguous:
      return 1;
    case Access::gathered:
      return 2;
    case Access::strided:
      return 8;
  }
  return 8;
}

Touch touch(const std::vector<std::string>& indices, const format::TensorFormat& format,
            const std::string& loop) {
  Touch result = Touch::absent;
  for (int level = 0; level < format.order(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (indices[static_cast<std::size_t>(format.mode_order[at])] != loop) continue;
    if (format.levels[at] == format::LevelFormat::compressed) {
      result = Touch::walked;
    } else {
      result = level + 1 == format.order() ? Touch::adjacent : Touch::jumping;
    }
  }
  return result;
}

Access leaf_access(const std::vector<Touch>& operands, Touch target) {
  const auto walked = std::count(operands.begin(), operands.end(), Touch::walked);
  bool jumping = target == Touch::jumping;
  bool adjacent = target == Touch::adjacent;
  for (Touch one : operands) {
    jumping = jumping || one == Touch::jumping;
    adjacent = adjacent || one == Touch::adjacent;
  }
  if (jumping) return Access::strided;
  if (walked > 1 || (walked == 1 && adjacent)) return Access::gathered;
  return Access::contiguous;
}

}  // namespace schaas::cost

#include "compiler/format/assembled_format.h"

#include <algorithm>

namespace schaas::format {

TensorFormat assembled_format(TensorFormat format) {
  std::replace_if(format.levels.begin(), format.levels.end(), is_located, LevelFormat::compressed);
  return format;
}

}  // namespace schaas::format

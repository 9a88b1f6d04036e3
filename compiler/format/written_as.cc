#include "compiler/format/written_as.h"

#include <algorithm>

namespace schaas::format {

TensorFormat written_as(TensorFormat format) {
  std::replace_if(format.levels.begin(), format.levels.end(), is_located, LevelFormat::compressed);
  return format;
}

}  // namespace schaas::format

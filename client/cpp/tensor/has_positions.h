#pragma once
#include "compiler/format/level_format.h"

namespace schaas::client {

/// The level has arrays as wide as positions: a bitmap has bytes.
inline bool has_positions(format::LevelFormat level) {
  return format::is_sparse(level) && level != format::LevelFormat::bitmap;
}

}  // namespace schaas::client

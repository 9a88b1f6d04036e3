#pragma once
#include <cstdint>
#include <vector>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/buffer.h"

namespace schaas::client {

/// Coordinates, int64_t, ascending, each once.
struct Met {
  Buffer coordinates;
  std::int64_t count = 0;
};

/// Returns an occupancy map: 1 for each coordinate below `extent` that a compressed level of a valid tensor
/// holds, else 0.
std::vector<unsigned char> held(const schaas_level& level, std::int64_t extent);

/// The coordinates that level `level` of a valid tensor holds, as a kernel wants them: a pass over its
/// entries and one over the extent. Errors: invalid [kernel-binary] (the level is not compressed); exhausted
/// [memory].
support::Result<Met> met_coordinates(const schaas_tensor& tensor, std::int32_t level);

}  // namespace schaas::client

#pragma once
#include <cstdint>
#include <vector>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/buffer.h"

namespace schaas::client {

/// Coordinates of a level: int64_t, ascending, unique.
struct StoredCoordinates {
  Buffer coordinates;
  std::int64_t count = 0;
};

/// Returns an occupancy map: 1 for each coordinate below `extent` that a compressed level of a valid tensor
/// holds, else 0.
std::vector<unsigned char> held(const schaas_level& level, std::int64_t extent);

/// Returns the coordinates that level `level` of a valid tensor holds, in the form that kernels take. It
/// takes a pass over its entries and one over the extent. Errors: invalid [kernel-binary] (the level is not
/// compressed); exhausted [memory].
support::Result<StoredCoordinates> stored_coordinates(const schaas_tensor& tensor, std::int32_t level);

}  // namespace schaas::client

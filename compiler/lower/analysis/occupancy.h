#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Gives sparse accumulators to temporaries of which few elements may be written (Tensor::occupancy_levels).
void give_occupancy(NestTree& tree);

}  // namespace schaas::lower

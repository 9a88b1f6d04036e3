#pragma once
#include <vector>

#include "compiler/space/space.h"

namespace schaas::frontier {

/// The minimal (loop depth, memory depth) pairs of the classes, ascending by loop depth (SparseAuto
/// section 5.2, stage 2).
std::vector<space::Space::Depths> depth_front(const std::vector<space::ClassCount>& classes);

/// True when the class's pair is on the front. A heuristic: it drops classes that win for some sizes.
bool on_front(const cost::Cost& cost, const std::vector<space::Space::Depths>& front);

}  // namespace schaas::frontier

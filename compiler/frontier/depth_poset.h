#pragma once
#include <vector>

#include "compiler/space/space.h"
#include "compiler/support/limits.h"

namespace schaas::frontier {

/// A depth that no tree exceeds.
constexpr int any_depth = static_cast<int>(support::Limits::indices);

/// The minimal (loop depth, memory depth) pairs of the classes, ascending by loop depth (SparseAuto
/// section 5.2, stage 2).
std::vector<space::Space::Depths> depth_front(const std::vector<cost::Cost>& classes);

space::Space::Depths depths_of(const cost::Cost& cost);

/// The position of the pair on the front that is no deeper in either way; it is the pair itself for the
/// classes stage 2 keeps. A heuristic: it drops classes that win for some sizes.
std::size_t covering(const space::Space::Depths& pair, const std::vector<space::Space::Depths>& front);

}  // namespace schaas::frontier

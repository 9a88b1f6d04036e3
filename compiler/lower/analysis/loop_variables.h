#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Variables of the loops that emission made of a loop of the tree: one for each time it was emitted.
using LoopVariables = std::map<const Loop*, std::vector<std::string>>;

}  // namespace schaas::lower

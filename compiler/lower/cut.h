#pragma once
#include "compiler/lower/nest.h"

namespace schaas::lower {

/// Decides for each phase whether one of its iterations may be done in parts, along the entries of the level
/// that balances it (NestTree::cuts). That level is walked below. The parts are iterations of one loop around
/// all that the phase does inside; or all of it is linear in the operand that is walked, so that what its
/// parts give adds up. Where the parts write the same elements they get a tensor of their own.
void find_cuts(NestTree& tree);

}  // namespace schaas::lower

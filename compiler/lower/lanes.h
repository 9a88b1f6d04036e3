#pragma once
#include "compiler/lower/nest.h"

namespace schaas::lower {

/// Register-resident rows. Rewrites each maximal statement S (not the outermost loop of a phase) of the form
///
///     loops over reductions ... forall(x, T(..x..) += ...)      one leaf, or branches passing temporaries
///     t(x)
///
/// where every leaf lies under a dense loop over x, everything that has x has it at unit stride, and x is the
/// only index of the target that S itself binds, into
///
///     forall(x in lanes, S without its loops over x)            temporaries t(x) become t
///
/// so that what S accumulates stays in vector registers while the sparse loops run, block of x by block of x.
/// The loops of S are walked again for each block; on rows longer than a few nonzeros this is several times
/// faster than adding to memory (register accumulators of SpMM, MTTKRP and their fusions). Left alone: loops
/// that merge several sparse operands, and loops that a schedule unrolls.
void move_lanes_outwards(NestTree& tree);

}  // namespace schaas::lower

#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Register blocking: keeps rows of the target in vector registers. Rewrites each maximal statement S, except
/// outermost loops of phases, of the form
///
///     loops over reductions ... forall(x, T(..x..) += ...)      one leaf, or branches passing temporaries
///     t(x)
///
/// into the form below. Every leaf lies under a dense loop over x; all operands with x have it at unit
/// stride. Only x, of the target's indices, is bound by S itself.
///
///     forall(x in vectors, S without its loops over x)          temporaries t(x) become t
///
/// The sums of S then stay in registers while the sparse loops run. The loops of S are walked again for each
/// block. On rows longer than a few nonzeros this is several times faster than adding to memory (SpMM, MTTKRP
/// and their fusions). Loops that merge several sparse operands and loops that a schedule unrolls are left
/// alone. Returns true where it changed the tree.
bool block_registers(NestTree& tree);

}  // namespace schaas::lower

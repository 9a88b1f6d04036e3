#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Runs the rows of a phase in blocks where each row computes scalars and a costly function of them
/// (operators::is_costly). The function has no loop of its own. The scalars of a block are kept, and
/// vector code computes the function for all of them.
///
///     for i { t = 0; for j { t += B(i,j) * x(j) }; s += exp(t) }
///
/// becomes
///
///     for 64 values of i { for i { t(i) = 0; for j { t(i) += B(i,j) * x(j) } }; for i { s += exp(t(i)) } }
///
/// Applies to phases whose outermost loop visits every row, with scalar temporaries. Returns true
/// where it changed the tree.
bool block_calls(NestTree& tree);

}  // namespace schaas::lower

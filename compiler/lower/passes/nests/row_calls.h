#pragma once
#include "compiler/lower/analysis/nest.h"

namespace schaas::lower {

/// Runs the rows of a phase in blocks where each row computes scalars, and a costly function of them without
/// a loop of its own (operators::is_costly). The scalars of a block are kept, and the function is computed
/// for all of them by vector code:
///
///     for i { t = 0; for j { t += B(i,j) * x(j) }; s += log(1 + exp(t)) }
///
/// becomes
///
///     for 64 values of i { for i { t(i) = 0; for j { t(i) += B(i,j) * x(j) } }; for i { s += log(1 +
///     exp(t(i))) } }
///
/// Applies to phases whose outermost loop visits every row and whose temporaries are scalars. Returns true
/// where it changed the tree.
bool block_calls(NestTree& tree);

}  // namespace schaas::lower
